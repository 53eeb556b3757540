import { createOrdersClient, type OrdersClient, type Wait } from '../client/client.ts'
import { parseBaseUrl } from '../client/options.ts'
import type { Screen, StatusLine } from '../lib/status-line.ts'
import { CommandLineError } from './errors.ts'
import { promptForKey } from './terminal/key-prompt.ts'

export interface Output {
  write(text: string, callback: (error?: Error | null) => void): unknown
  isTTY?: boolean
}

/** What the process gives the program. */
export interface ProcessContext {
  /** The words that call this program, for hints: `orders`, or `npx orders`. */
  program: readonly string[]
  /** The folder that relative paths start from. */
  cwd: string
  env: NodeJS.ProcessEnv
  stdout: Output
  stderr: Screen
  /** Aborts with an `Interruption` at SIGINT and SIGTERM. */
  signal: AbortSignal
}

/** What a sub-command receives. */
export interface Context extends ProcessContext {
  /** On stderr. */
  status: StatusLine
}

/**
 * The address of the API, from the option or from ORDERS_API_URL.
 * @throws UsageError if both are missing or the address is invalid
 */
export function resolveBaseUrl(option: string | undefined, env: Context['env']): string {
  const text = option ?? env['ORDERS_API_URL']?.trim() ?? ''
  if (text !== '') return parseBaseUrl(text)
  throw new CommandLineError('Falta o endereço da API: use --url, ou a variável ORDERS_API_URL.')
}

/** A client with the key of ORDERS_API_KEY, or the one typed at the prompt. */
export async function connect(
  { env, signal }: Context,
  baseUrl: string,
  onWait: (wait: Wait) => void = () => {},
): Promise<OrdersClient> {
  const fromEnv = env['ORDERS_API_KEY']?.trim() ?? ''
  const apiKey = fromEnv === '' ? await promptForKey(signal) : fromEnv
  return createOrdersClient({ baseUrl, apiKey, onWait })
}

/**
 * Writes and waits until the text is written. `closed`: the reader closed the pipe, as `head` does,
 * which is no failure.
 * @throws system errors, such as a full disk
 */
export function writeText(output: Output, text: string): Promise<'written' | 'closed'> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => {
      if (!error) resolve('written')
      else if ((error as NodeJS.ErrnoException).code === 'EPIPE') resolve('closed')
      else reject(error)
    })
  })
}
