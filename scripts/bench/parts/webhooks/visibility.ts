import { setTimeout as sleep } from 'node:timers/promises'
import { ENDPOINT_MAX_AGE_MS } from '../../../../src/webhooks/endpoints/endpoint-directory.ts'
import type { WebhookStores } from '../../../../src/webhooks/webhook-stores.ts'
import { race } from '../../measuring/race.ts'
import { type Ratio, ratioOf } from '../../report.ts'
import { ALL_ACCOUNTS } from '../lag/changes.ts'
import { openLag, WARM_UP_SECONDS } from '../lag/pipeline.ts'
import { insertEndpoints, newEndpoint } from './endpoints.ts'
import type { WebhookMeasurement } from './measurement.ts'
import { renderTargets } from './targets.ts'

/** One of so many accounts has an endpoint. */
const SUBSCRIBED_EVERY = 10
const SUBSCRIBED = { of: '10 %', per: 'none', isCost: true } as const
const P50: Ratio = { name: 'p50 lag 10 %÷none', ...SUBSCRIBED, figure: 'p50Ms' }
const P99: Ratio = { name: 'p99 lag 10 %÷none', ...SUBSCRIBED, figure: 'p99Ms' }
const LEGEND = `the part lag; 10 %: of the accounts have an endpoint; no dispatcher runs`

/** What recording events costs until a change is visible. */
export const visibilityMeasurement: WebhookMeasurement = {
  name: 'visibility',
  about: 'the part lag with a tenth of the accounts subscribed',
  async measure(context, scope) {
    const { options, receiver, signal, log } = context
    const { services, measure } = await openLag(context, scope)
    const subscriptions = createSubscriptions(services.webhooks, receiver.urlOf)
    const measureWith = async (isSubscribed: boolean, seconds: number) => {
      await subscriptions.set(isSubscribed)
      await sleep(ENDPOINT_MAX_AGE_MS, undefined, { signal })
      return await measure(seconds)
    }
    log('warming up …')
    await measureWith(true, WARM_UP_SECONDS)
    const contenders = [
      { name: 'none', measure: () => measureWith(false, options.seconds) },
      { name: '10 %', measure: () => measureWith(true, options.seconds) },
    ]
    const results = await race([{ name: '', contenders }], context)
    const notes = results.flatMap((result) =>
      renderTargets([
        { name: 'p50 lag, 10 % ÷ none', value: ratioOf(result, P50), atMost: 1.1 },
        { name: 'p99 lag, 10 % ÷ none', value: ratioOf(result, P99), atMost: 1.1 },
      ]),
    )
    const title = `The lag of ${options.rate} changes a second with webhooks`
    const ratios = [P50, P99]
    return { sections: [{ title, results, base: 'none', ratios, notes: [LEGEND, ...notes] }] }
  },
}

/** The endpoints of a tenth of the accounts, which exist or do not. */
function createSubscriptions(
  webhooks: WebhookStores,
  urlOf: (group: string, name: number) => string,
) {
  let ids: string[] = []
  return {
    async set(isSubscribed: boolean): Promise<void> {
      for (const id of ids) {
        await webhooks.endpoints.update(id, (one) => ({ ...one, deletedAt: Date.now() }))
      }
      const accountIds = ALL_ACCOUNTS.filter((_, at) => isSubscribed && at % SUBSCRIBED_EVERY === 0)
      const endpoints = accountIds.map((accountId, at) =>
        newEndpoint({ accountId, url: urlOf('visibility', at) }),
      )
      await insertEndpoints(webhooks, endpoints)
      ids = endpoints.map(({ id }) => id)
    },
  }
}
