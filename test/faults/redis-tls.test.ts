import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningRedis, startRedis } from '../../scripts/services/redis.ts'
import { type Certificate, makeCertificate } from '../support/certificate.ts'
import { startTlsFront } from '../support/tls-front.ts'
import {
  countTogether,
  localDecisions,
  openProcess,
  PATIENT,
  whenOver,
} from './limiting-process.ts'

describe('with a Redis behind TLS', () => {
  let redis: RunningRedis
  let certificate: Certificate
  beforeAll(async () => {
    redis = await startRedis()
    certificate = await makeCertificate()
  })
  afterAll(() => redis.stop())

  /** Ends TLS in front of Redis. */
  async function startTls(): Promise<string> {
    const front = await startTlsFront(redis.port, certificate)
    whenOver(front.close)
    return `rediss://localhost:${front.port}`
  }

  it('processes that trust its authority count together', async () => {
    const url = await startTls()
    const trusting = { ...PATIENT, ca: certificate.ca }
    const one = await openProcess([url], trusting)
    const other = await openProcess([url], trusting)
    await countTogether(one, other)
    expect(one.told.localDecisions + other.told.localDecisions).toBe(0)
  })

  it('a process that does not trust it decides locally, and says why', async () => {
    const one = await openProcess([await startTls()])
    expect(await localDecisions(one)).toBe(3)
    expect(one.told.errors).toEqual([expect.stringContaining('certificate')])
  })
})
