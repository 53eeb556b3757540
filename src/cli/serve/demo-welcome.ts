import { DEMO_ACCOUNT } from '../../demo/accounts.ts'
import type { DemoKeys } from '../../demo/seed-demo.ts'
import { DAY_MS } from '../../lib/durations.ts'
import { formatInstant } from '../../lib/instant.ts'
import { capabilities } from '../../management/sessions/session-store.ts'
import type { ManagementAccess } from './management/management-server.ts'

const WEEK_MS = 7 * DAY_MS
const WEBHOOKS = '\nSee webhooks within 10 seconds, in another terminal: npm run -s webhook-demo\n'
const REQUESTS_NOT_LOGGED = '\nRequests are not logged. To log each one, set LOG_LEVEL=info.\n'

export interface DemoService {
  baseUrl: string
  keys: DemoKeys
  /** Whether this process delivers webhooks, and accepts receivers on this machine. */
  isDispatcher: boolean
  /** `null` when the management API is off. */
  access: ManagementAccess | null
  /** Starts one session of the console; `null` when the console is off, or the account blocked. */
  consoleLink: string | null
  /** Whether the log has a line for each request. */
  logsRequests: boolean
}

/** The key and the example calls that `serve --demo` prints once it listens, at `nowMs`. */
export function demoWelcome(service: DemoService, nowMs: number): string {
  const { baseUrl, keys, isDispatcher, access, consoleLink, logsRequests } = service
  const lastWeek = formatInstant(nowMs - WEEK_MS)
  const call = (pathAndQuery: string) => `  ${curl(keys.live, baseUrl + pathAndQuery)}`
  return `
The public Orders API listens on ${baseUrl}

  demo key      ${keys.live}
  demo account  ${DEMO_ACCOUNT}
${consoleLink === null ? '' : `  console       ${consoleLink}\n                (works once, within 15 minutes)\n`}
In another terminal:
  export ORDERS_API_URL=${baseUrl}
  export ORDERS_API_KEY=${keys.live}

Try:
${call('/v1/orders?limit=2')}
${call('/v1/orders?status=PAID,REFUNDED&payment_method=PIX&limit=2')}
${call(`/v1/orders?sort=updated_at_asc&updated_gte=${lastWeek}&limit=2`)}
${isDispatcher ? WEBHOOKS : ''}${access === null ? '' : managementCalls(service, access)}
The documentation: ${baseUrl}/docs
The API's description: ${baseUrl}/openapi.json
${logsRequests ? '' : REQUESTS_NOT_LOGGED}`
}

function managementCalls(
  { baseUrl, keys, consoleLink }: DemoService,
  { url, token }: ManagementAccess,
): string {
  const credential = token ?? '<a token of MANAGEMENT_TOKENS>'
  const accountUrl = `${url}/v1/accounts/${DEMO_ACCOUNT}`
  const order = json('{"scenario":"pix_awaiting"}')
  const create = curl(credential, `${accountUrl}/sandbox-orders`, order)
  const newLink = `A new link to the console, for 60 seconds:
  ${curl(credential, `${accountUrl}/sessions`, json(SESSION))}
`
  return `
Manage keys and webhooks over HTTP:
  ${curl(credential, `${accountUrl}/keys`)}
Create an order in the sandbox, and read it with its test key:
  ${create} && ${curl(keys.test, `${baseUrl}/v1/orders`)}
${consoleLink === null ? '' : newLink}`
}

const SESSION = JSON.stringify({ subject: 'demo', capabilities })

function curl(credential: string, url: string, options = ''): string {
  return ['curl -s', `-H 'Authorization: Bearer ${credential}'`, options, `'${url}'`]
    .filter(Boolean)
    .join(' ')
}

const json = (body: string) => `-H 'Content-Type: application/json' -d '${body}'`
