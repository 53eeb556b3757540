import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { createServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningRedis, startRedis } from '../../scripts/services/redis.ts'
import { type Certificate, makeCertificate } from '../support/certificate.ts'
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
    const server = createServer(certificate, (socket) => {
      const plain = connect(redis.port, '127.0.0.1')
      socket.pipe(plain).pipe(socket)
      socket.on('error', () => plain.destroy())
      plain.on('error', () => socket.destroy())
    })
    server.on('tlsClientError', () => {}) // The client's to tell.
    await once(server.listen(0, '127.0.0.1'), 'listening')
    whenOver(() => server.close())
    return `rediss://localhost:${(server.address() as AddressInfo).port}`
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
