# The little of the W3C WebDriver protocol that the tests need, spoken to chromedriver.

free_port <- function() httpuv::randomPort(host = "127.0.0.1")

# Reads the output of a process until a line holds the text, and returns that line.
wait_for_line <- function(process, text, seconds = 120) {
  stop_at <- Sys.time() + seconds
  seen <- character()
  while (Sys.time() < stop_at) {
    alive <- process$is_alive() # before reading: the last lines may come with the end
    process$poll_io(500)
    seen <- c(seen, process$read_output_lines())
    found <- grep(text, seen, fixed = TRUE, value = TRUE)
    if (length(found) > 0) {
      return(found[[1]])
    }
    if (!alive) break
  }
  stop("\"", text, "\" was never printed. Output:\n", paste(c(seen, process$read_error()), "\n"))
}

# A browser with a fresh profile, closed at the end of the test. As root Chromium has no sandbox; it
# sees nothing but the app on the loopback address.
local_browser <- function(width = 900, height = 1100, frame = parent.frame()) {
  profile <- withr::local_tempdir(.local_envir = frame)
  port <- free_port()
  driver <- processx::process$new(
    "chromedriver", paste0("--port=", port),
    stdout = "|", stderr = "|", cleanup_tree = TRUE
  )
  withr::defer(driver$kill_tree(), envir = frame)
  wait_for_line(driver, "started successfully")
  arguments <- c(
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    paste0("--user-data-dir=", profile), sprintf("--window-size=%d,%d", width, height)
  )
  options <- list(browserName = "chrome", "goog:chromeOptions" = list(args = as.list(arguments)))
  server <- sprintf("http://127.0.0.1:%d/session", port)
  session <- request_browser(server, "POST", list(capabilities = list(alwaysMatch = options)))
  browser <- paste0(server, "/", session$sessionId)
  withr::defer(request_browser(browser, "DELETE"), envir = frame)
  browser
}

request_browser <- function(url, method, body = NULL) {
  handle <- curl::new_handle(customrequest = method, noproxy = "*", timeout = 300)
  if (method == "POST") {
    if (is.null(body)) body <- structure(list(), names = character())
    content <- jsonlite::toJSON(body, auto_unbox = TRUE)
    curl::handle_setopt(handle, postfields = as.character(content))
    curl::handle_setheaders(handle, "Content-Type" = "application/json")
  }
  response <- curl::curl_fetch_memory(url, handle)
  value <- jsonlite::fromJSON(rawToChar(response$content), simplifyVector = FALSE)$value
  if (response$status_code != 200) stop(value$error, ": ", value$message)
  value
}

open_page <- function(browser, url) {
  request_browser(paste0(browser, "/url"), "POST", list(url = url))
}

find_element <- function(browser, css) {
  found <- request_browser(
    paste0(browser, "/element"), "POST", list(using = "css selector", value = css)
  )
  paste0(browser, "/element/", found[[1]])
}

read_text <- function(browser, css) {
  request_browser(paste0(find_element(browser, css), "/text"), "GET")
}

click <- function(browser, css) {
  request_browser(paste0(find_element(browser, css), "/click"), "POST")
}

type <- function(browser, css, text) {
  element <- find_element(browser, css)
  request_browser(paste0(element, "/clear"), "POST")
  request_browser(paste0(element, "/value"), "POST", list(text = text))
}

# Takes the handle of a slider and moves it to the right (left, if negative).
drag_slider <- function(browser, id, pixels) {
  css <- sprintf("#%s-label ~ .irs .irs-handle", id)
  handle <- sub(".*/", "", find_element(browser, css))
  origin <- list("element-6066-11e4-a52e-4f735466cecf" = handle)
  move <- function(x, origin) {
    list(type = "pointerMove", duration = 200L, x = as.integer(x), y = 0L, origin = origin)
  }
  moves <- list(
    move(0, origin), list(type = "pointerDown", button = 0L), move(pixels, "pointer"),
    list(type = "pointerUp", button = 0L)
  )
  mouse <- list(list(type = "pointer", id = "mouse", actions = moves))
  request_browser(paste0(browser, "/actions"), "POST", list(actions = mouse))
}

# Polls until the text of an element passes the test, and returns it.
wait_for_text <- function(browser, css, passes, seconds = 120) {
  stop_at <- Sys.time() + seconds
  text <- ""
  while (Sys.time() < stop_at) {
    text <- tryCatch(read_text(browser, css), error = function(error) "")
    if (passes(text)) {
      return(text)
    }
    Sys.sleep(0.2)
  }
  stop("The text of ", css, " stayed \"", text, "\"")
}

save_screenshot <- function(browser, file) {
  picture <- request_browser(paste0(browser, "/screenshot"), "GET")
  writeBin(jsonlite::base64_dec(picture), file)
}
