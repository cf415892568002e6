# Databases to count in: SQLite in memory, and a PostgreSQL server of our own. The server lives in a
# temporary folder that only its user can enter and listens at a socket there: no port, no password,
# nothing left behind. It starts with the first test that asks and stops after the last.

databases <- new.env(parent = emptyenv())

sqlite <- function(env = parent.frame()) {
  skip_if_not_installed("DBI")
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("dbplyr")
  connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  withr::defer(DBI::dbDisconnect(connection), envir = env)
  connection
}

postgres <- function() {
  skip_on_cran()
  skip_if_not_installed("RPostgreSQL")
  skip_if_not_installed("dbplyr")
  if (is.null(databases$postgres)) {
    start_postgres()
  }
  databases$postgres
}

# Debian keeps the programs of the server off the path.
postgres_program <- function(name) {
  found <- c(Sys.glob(file.path("/usr/lib/postgresql/*/bin", name)), Sys.which(name))
  found <- found[nzchar(found)]
  if (length(found) == 0) {
    skip("there is no PostgreSQL server to start")
  }
  unname(found[[1]])
}

# The server refuses to run as root.
as_server_user <- function(program, arguments) {
  command <- c(program, arguments)
  if (is_root()) {
    command <- c("runuser", "-u", "postgres", "--", command)
  }
  system2(command[[1]], shQuote(command[-1]), stdout = FALSE, stderr = FALSE)
}

is_root <- function() identical(unname(Sys.info()[["effective_user"]]), "root")

# R's temporary folder, or the nearest around it that the server's user can enter.
open_folder <- function() {
  folder <- tempdir()
  while (as_server_user("test", c("-x", folder)) != 0) folder <- dirname(folder)
  folder
}

start_postgres <- function() {
  initdb <- postgres_program("initdb")
  pg_ctl <- postgres_program("pg_ctl")
  place <- tempfile("confide-postgres-", tmpdir = open_folder())
  dir.create(place, mode = "0700")
  withr::defer(unlink(place, recursive = TRUE), envir = testthat::teardown_env())
  if (is_root()) {
    system2("chown", c("postgres", shQuote(place)))
  }
  data <- file.path(place, "data")
  settings <- c(
    "listen_addresses=''", paste0("unix_socket_directories='", place, "'"), "fsync=off",
    "shared_preload_libraries=pg_stat_statements"
  )
  failed <- as_server_user(initdb, c(
    "-D", data, "-A", "trust", "-U", "confide", "-E", "UTF8", "--locale=C", "--no-sync"
  ))
  if (failed == 0) {
    failed <- as_server_user(pg_ctl, c(
      "-D", data, "-w", "-t", "60", "-l", file.path(place, "log"),
      "-o", paste("-c", settings, collapse = " "), "start"
    ))
  }
  if (failed != 0) {
    # where the server must be there, its absence is a failure
    if (identical(Sys.getenv("CI"), "true")) stop("The PostgreSQL server does not start.")
    skip("the PostgreSQL server does not start")
  }
  withr::defer(
    as_server_user(pg_ctl, c("-D", data, "-m", "immediate", "stop")),
    envir = testthat::teardown_env()
  )
  connection <- DBI::dbConnect(
    RPostgreSQL::PostgreSQL(), host = place, user = "confide", dbname = "postgres"
  )
  withr::defer(DBI::dbDisconnect(connection), envir = testthat::teardown_env())
  execute(connection, "CREATE EXTENSION pg_stat_statements", "SET client_min_messages = error")
  # dbplyr tells once that the driver is an old one
  suppressWarnings(dplyr::tbl(connection, dbplyr::sql("SELECT 1 AS one")))
  databases$postgres <- connection
}

execute <- function(connection, ...) {
  for (statement in c(...)) {
    DBI::dbExecute(connection, statement)
  }
}

is_postgres <- function(connection) inherits(connection, "PostgreSQLConnection")

# A frame as a table of the database. `types` are SQL types of columns where R's own would not do.
database <- function(frame, connection = sqlite(env), types = character(), env = parent.frame()) {
  stored <- frame
  stored[] <- lapply(stored, function(x) if (is.factor(x)) as.character(x) else x)
  if (DBI::dbExistsTable(connection, "reports")) {
    DBI::dbRemoveTable(connection, "reports")
  }
  if (length(types) > 0) {
    DBI::dbWriteTable(connection, "reports", stored, row.names = FALSE, field.types = types)
  } else {
    DBI::dbWriteTable(connection, "reports", stored, row.names = FALSE)
  }
  dplyr::tbl(connection, "reports")
}
