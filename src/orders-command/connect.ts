import { createOrdersClient, type OrdersClient, type Wait } from '../client/client.ts'
import { parseBaseUrl } from '../client/options.ts'
import type { Context } from './context.ts'
import { UsageFault } from './faults.ts'
import { askForKey } from './terminal/key-prompt.ts'

/**
 * The address of the API, from the option or from ORDERS_API_URL.
 * @throws UsageFault where neither is there; UsageError where it is no address
 */
export function addressOf(
  command: string,
  option: string | undefined,
  env: Context['env'],
): string {
  const text = option ?? env['ORDERS_API_URL']?.trim() ?? ''
  if (text !== '') return parseBaseUrl(text)
  throw new UsageFault('Falta o endereço da API: use --url, ou a variável ORDERS_API_URL.', command)
}

/** A client with the key of ORDERS_API_KEY, or the one that is typed. */
export async function connect(
  { env, signal }: Context,
  baseUrl: string,
  onWait: (wait: Wait) => void = () => {},
): Promise<OrdersClient> {
  const given = env['ORDERS_API_KEY']?.trim() ?? ''
  const apiKey = given === '' ? await askForKey(signal) : given
  return createOrdersClient({ baseUrl, apiKey, onWait })
}
