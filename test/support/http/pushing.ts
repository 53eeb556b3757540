import { parseConfig } from '../../../src/config/config.ts'
import type { LineResult, SourceOrderResults } from '../../../src/management/ingestion/ingestion.ts'
import type { Services } from '../../../src/services.ts'
import { checkManagementResponse } from '../../harness/traffic/openapi-check.ts'
import {
  ADMIN,
  type BuildManagementOptions,
  buildManagement,
  READER,
} from '../management/build-management.ts'
import type { ErrorBody } from './test-app.ts'

export interface PushOptions {
  /** The type of the body; NDJSON when absent. */
  type?: string
  /** The `Content-Encoding`; none when absent. */
  encoding?: string
  /** `null`: none. `admin` when absent. */
  token?: 'admin' | 'read' | null
}

export const NDJSON = 'application/x-ndjson'

/**
 * The management API over these stores, with a token of each role. Every response is validated
 * against the OpenAPI file.
 */
export function createPushing(
  services: Services,
  { stream = null }: Pick<BuildManagementOptions, 'stream'> = {},
) {
  const { api: app, metrics } = buildManagement(services, parseConfig({}), { stream })
  const tokens = { admin: ADMIN, read: READER }

  async function send(
    body: string | Buffer,
    { type = NDJSON, encoding, token = 'admin' }: PushOptions = {},
  ) {
    const route = { method: 'POST', url: '/v1/source-orders' } as const
    const response = await app.inject({
      ...route,
      headers: {
        'content-type': type,
        ...(encoding && { 'content-encoding': encoding }),
        ...(token && { authorization: `Bearer ${tokens[token]}` }),
      },
      payload: body,
    })
    const { statusCode: status, headers } = response
    const json: SourceOrderResults & ErrorBody = response.json()
    checkManagementResponse({ ...route, status, headers, json })
    return { status, headers, json }
  }

  return {
    app,
    /** The results that the metric counted, each as often as it was counted. */
    async counted(): Promise<LineResult[]> {
      const { values } = await metrics.sourceOrders.get()
      return values.flatMap(({ labels, value }) =>
        Array<LineResult>(value).fill(labels.result as LineResult),
      )
    },
    send,

    /** Pushes source orders as NDJSON, and returns `ord_1 written` for each. */
    async push(...orders: readonly object[]): Promise<string[]> {
      const { json, status } = await send(toNdjson(orders))
      if (status >= 300) throw new Error(JSON.stringify(json))
      return json.data.map(({ id, result }) => `${id} ${result}`)
    },
    close: () => app.close(),
  }
}

/** One line for each value. */
export function toNdjson(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('')
}
