# The window of explore(): what is asked, what is shown. All it computes comes from explore.R.

explore_app <- function(domain, n) {
  shiny::shinyApp(explore_ui(domain, n), explore_server(domain))
}

explore_ui <- function(domain, n) {
  several <- length(domain) > 1
  miniUI::miniPage(
    shiny::tags$head(shiny::tags$style(explore_css)),
    miniUI::gadgetTitleBar("What does privacy cost?"),
    miniUI::miniContentPanel(
      shiny::tabsetPanel(
        id = "page", selected = if (several) "survey" else "answer",
        shiny::tabPanel("Several attributes", value = "survey", survey_controls(domain, n)),
        shiny::tabPanel("One attribute", value = "answer", answer_controls(domain, n)),
        shiny::tabPanel("A mean", value = "mean", mean_controls(n))
      ),
      shiny::h4("Guarantee"),
      shiny::div(id = "guarantee_box", shiny::textOutput("guarantee")),
      shiny::h4("Errors to expect"),
      shiny::tableOutput("errors"),
      shiny::div(class = "note", shiny::textOutput("note")),
      shiny::plotOutput("curve", height = "260px"),
      shiny::h4("The same in R"),
      shiny::verbatimTextOutput("code")
    )
  )
}

explore_css <- "
  .controls { display: flex; flex-wrap: wrap; column-gap: 2em; padding-top: 1em; }
  .note { color: #555; }
  h4 { margin-top: 1.2em; }
  #guarantee { font-weight: bold; }
  .shiny-output-error-validation:not(#guarantee) { visibility: hidden; }
"

controls <- function(...) shiny::div(class = "controls", ...)

survey_controls <- function(domain, n) {
  shiny::tagList(
    controls(
      shiny::radioButtons("by", "Sliders move", c("epsilon", "lambda"), inline = TRUE),
      count_input("survey_n", "Reports (n)", n)
    ),
    lapply(c("epsilon", "lambda"), function(by) {
      shiny::conditionalPanel(
        sprintf("input.by == '%s'", by),
        controls(lapply(seq_along(domain), function(i) survey_slider(domain, by, i)))
      )
    })
  )
}

survey_slider <- function(domain, by, i) {
  label <- shorten(paste(by, "of", names(domain)[[i]]))
  size <- domain[[i]]$size
  switch(by,
    epsilon = epsilon_input(slider_id(by, i), label),
    lambda = shiny::sliderInput(
      slider_id(by, i), label, lambda_range[[1]], lambda_range[[2]],
      round(lambda_of(start_epsilon, size), 2), 0.01,
      ticks = FALSE
    )
  )
}

slider_id <- function(by, i) paste0(by, "_", i)

# Where the sliders stand at first; not advice.
start_epsilon <- 1
epsilon_range <- c(0.05, 8)
lambda_range <- c(0.01, 0.99)

epsilon_input <- function(id, label) {
  shiny::sliderInput(
    id, label, epsilon_range[[1]], epsilon_range[[2]], start_epsilon, 0.05,
    ticks = FALSE
  )
}

count_input <- function(id, label, value, min = 1) {
  shiny::numericInput(id, label, value, min = min, step = 1, width = "9em")
}

own_size <- "(number of levels)"

answer_controls <- function(domain, n) {
  controls(
    shiny::radioButtons(
      "kind", "Mechanism", c("randomized response" = "rr", "block design" = "block"),
      inline = TRUE
    ),
    shiny::selectInput("attribute", "Attribute", c(names(domain), own_size), width = "14em"),
    shiny::conditionalPanel(
      sprintf("input.attribute == '%s'", own_size), count_input("size", "Levels", 50, min = 2)
    ),
    count_input("answer_n", "Reports (n)", n),
    epsilon_input("answer_epsilon", "epsilon")
  )
}

mean_controls <- function(n) {
  laws <- stats::setNames(names(distribution_words), distribution_words)
  controls(
    count_input("columns", "Columns (d)", 5),
    count_input("rows", "Rows (n)", max(n, 5000)),
    shiny::selectInput("distribution", "Data expected", laws, width = "16em"),
    shiny::sliderInput("rho", "rho", 0.01, 2, 0.5, 0.01, ticks = FALSE)
  )
}

explore_server <- function(domain) {
  function(input, output, session) {
    state <- shiny::reactive(read_state(input, domain))
    steps <- shiny::reactive(or_say_why(explored_steps(state())))
    made <- shiny::reactive(or_say_why(run_steps(steps())))
    code <- shiny::reactive({
      made() # there is no code for what cannot be made
      explored_code(steps())
    })

    # The sliders of the other scale follow when they come into view.
    shiny::observeEvent(input$by, ignoreInit = TRUE, {
      values <- switch_scale(
        read_sliders(input, other_scale(input$by), domain), alphabet_sizes(domain), input$by
      )
      for (i in seq_along(values)) {
        shiny::updateSliderInput(session, slider_id(input$by, i), value = round(values[[i]], 2))
      }
    })

    output$guarantee <- shiny::renderText(explored_guarantee(made()))
    output$errors <- shiny::renderTable({
      made <- made()
      format_explored(explored_table(state(), made))
    })
    output$note <- shiny::renderText(explored_note(made()))
    output$curve <- shiny::renderPlot(ggplot2::autoplot(made()$plan), res = 84)
    output$code <- shiny::renderText(paste(code(), collapse = "\n"))

    shiny::observeEvent(input$done, shiny::stopApp(list(made = made(), code = code())))
    shiny::observeEvent(input$cancel, shiny::stopApp())
  }
}

read_state <- function(input, domain) {
  switch(input$page,
    survey = survey_state(domain, input$by, read_sliders(input, input$by, domain), input$survey_n),
    answer = answer_state(
      input$kind, chosen_alphabet(input, domain), input$answer_epsilon, input$answer_n
    ),
    mean = mean_state(input$columns, input$rho, input$rows, input$distribution)
  )
}

read_sliders <- function(input, by, domain) {
  vapply(seq_along(domain), function(i) as.numeric(input[[slider_id(by, i)]]), numeric(1))
}

other_scale <- function(by) setdiff(c("epsilon", "lambda"), by)

chosen_alphabet <- function(input, domain) {
  if (input$attribute == own_size) {
    return(or_say_why(new_alphabet(as.numeric(input$size))))
  }
  domain[[input$attribute]]
}

# A field that holds no legal number is for the person at the window to mend.
or_say_why <- function(code) {
  tryCatch(code, confide_error = function(error) {
    shiny::validate(shiny::need(FALSE, cli::ansi_strip(conditionMessage(error))))
  })
}
