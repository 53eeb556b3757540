import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config/config.ts'
import { instrumentServices } from '../../src/observability/metrics/instrument-services.ts'
import { createMetrics } from '../../src/observability/metrics/registry.ts'
import { openServerServices } from '../../src/services.ts'
import { type Certificate, makeCertificate } from '../harness/services/certificate.ts'
import { type RunningRedis, startRedis } from '../harness/services/redis.ts'
import { startTlsProxy } from '../support/http/tls-proxy.ts'
import {
  countLocalDecisions,
  onTestEnd,
  openLimiterProcess,
  RELAXED_TIMEOUTS,
  waitUntilShared,
} from './limiter-process.ts'

describe('a Redis behind TLS', () => {
  let redis: RunningRedis
  let certificate: Certificate
  beforeAll(async () => {
    redis = await startRedis()
    certificate = await makeCertificate()
  })
  afterAll(() => redis.stop())

  /** Terminates TLS in front of Redis. */
  async function startTls(): Promise<string> {
    const tlsProxy = await startTlsProxy(redis.port, certificate)
    onTestEnd(tlsProxy.close)
    return `rediss://localhost:${tlsProxy.port}`
  }

  it('processes that trust the certificate authority of Redis share limits', async () => {
    const url = await startTls()
    const trusting = { ...RELAXED_TIMEOUTS, ca: certificate.ca }
    const one = await openLimiterProcess([url], trusting)
    const other = await openLimiterProcess([url], trusting)
    await waitUntilShared(one, other)
    expect(one.recorded.localDecisions + other.recorded.localDecisions).toBe(0)
  })

  it('services trust the certificate authority in REDIS_CA_FILE', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'redis-ca-'))
    onTestEnd(() => rm(folder, { recursive: true }))
    const file = join(folder, 'ca.pem')
    await writeFile(file, certificate.ca)
    const config = parseConfig({
      DATA_DIR: folder,
      REDIS_URL: await startTls(),
      REDIS_CA_FILE: file,
    })
    const services = await openServerServices(config, {
      ...instrumentServices(createMetrics()),
      onDegraded() {},
      onRecovered() {},
    })
    onTestEnd(services.close)
    await expect.poll(services.isLimiterDegraded).toBe(false)
  })

  it('a process that does not trust the certificate of Redis decides locally and logs why', async () => {
    const one = await openLimiterProcess([await startTls()], RELAXED_TIMEOUTS)
    expect(await countLocalDecisions(one)).toBe(3)
    expect(one.recorded.errors).toEqual([expect.stringContaining('certificate')])
  })
})
