/** The path of the console's page. */
export const CONSOLE_PATH = '/painel'

/** The link that starts a session. The fragment is sent to no server and written to no log. */
export const consoleLink = (origin: string, token: string): string =>
  `${origin}${CONSOLE_PATH}#${token}`
