import { DEMO_ACCOUNT } from '../demo/demo-orders.ts'
import { formatInstant } from '../lib/instant.ts'

const WEEK_MS = 7 * 86_400_000
const WEBHOOKS = '\nSee webhooks within 10 seconds, in another terminal: npm run -s webhook-demo\n'

export interface DemoService {
  baseUrl: string
  key: string
  /** Whether this process delivers webhooks, and accepts receivers on this machine. */
  isDispatcher: boolean
}

/** The key and the example calls that `serve --demo` prints once it listens, at `nowMs`. */
export function demoWelcome({ baseUrl, key, isDispatcher }: DemoService, nowMs: number): string {
  const lastWeek = formatInstant(nowMs - WEEK_MS)
  const call = (pathAndQuery: string) =>
    `  curl -s -H 'Authorization: Bearer ${key}' '${baseUrl}${pathAndQuery}'`
  return `
The public Orders API listens on ${baseUrl}

  demo key      ${key}
  demo account  ${DEMO_ACCOUNT}

Try:
${call('/v1/orders?limit=2')}
${call('/v1/orders?status=PAID,REFUNDED&payment_method=PIX&limit=2')}
${call(`/v1/orders?sort=updated_at_asc&updated_gte=${lastWeek}&limit=2`)}
${isDispatcher ? WEBHOOKS : ''}
The documentation: ${baseUrl}/docs
The API's description: ${baseUrl}/openapi.json
`
}
