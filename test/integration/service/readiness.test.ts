import { expect, it } from 'vitest'
import { createReadiness } from '../../../src/http/operations/readiness.ts'
import { openTestServices, silent } from '../../support/stores/services.ts'

it('the service is ready without Redis and reports degraded limits', async () => {
  const test = await openTestServices({ REDIS_URL: 'redis://127.0.0.1:9' })
  expect(await createReadiness(test.services, silent)()).toEqual({
    status: 'ok',
    checks: { orders: 'ok', keys: 'ok', limits: 'degraded' },
  })
  await test.close()
})
