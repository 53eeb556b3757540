import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { connectRedis, type RedisConnection } from '../../src/stores/redis/client.ts'
import { type FaultyProxy, startFaultyProxy } from '../harness/faulty-proxy/faulty-proxy.ts'
import { type RunningRedis, startRedis } from '../harness/services/redis.ts'
import { onTestEnd, send } from './limiter-process.ts'

describe('the Redis client', () => {
  let redis: RunningRedis
  let proxy: FaultyProxy
  let admin: Redis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())
  beforeEach(async () => {
    admin = new Redis(redis.url)
    proxy = await startFaultyProxy(redis.port)
    onTestEnd(proxy.close)
    onTestEnd(() => admin.disconnect())
    await admin.flushall()
  })

  /** A client that may not be connected yet. */
  async function start(url: string) {
    const connection = await connectRedis({ urls: [url], ca: undefined, onError() {} })
    onTestEnd(connection.close)
    return connection
  }
  async function open(url: string) {
    const connection = await start(url)
    await becomes(connection, 'ready')
    return connection
  }
  const proxied = () => open(`redis://127.0.0.1:${proxy.port}`)
  async function becomes({ redis }: RedisConnection, status: RedisConnection['redis']['status']) {
    await expect.poll(() => redis.status, { interval: 10 }).toBe(status)
  }

  it('the Redis client rejects a command immediately while it connects and never sends it', async () => {
    const client = await proxied()
    proxy.stall = true
    proxy.resetConnections()
    await becomes(client, 'connect')
    await expect(client.redis.incr('counter')).rejects.toThrow()
    expect(client.redis.status).toBe('connect')
    proxy.stall = false
    await becomes(client, 'ready')
    expect(await client.redis.get('counter')).toBeNull()
  })

  it('the Redis client rejects a command whose connection is lost and does not resend it', async () => {
    const client = await proxied()
    proxy.stall = true
    const answer = expect(client.redis.incr('counter')).rejects.toThrow()
    proxy.stall = false
    proxy.resetConnections()
    await answer
    await becomes(client, 'ready')
    expect(await client.redis.get('counter')).toBeNull()
  })

  it('the Redis client reconnects on READONLY, since DNS may name another Redis', async () => {
    const client = await open(redis.url)
    const before = await client.redis.client('ID')
    await admin.replicaof('127.0.0.1', 1)
    await expect(client.redis.incr('counter')).rejects.toThrow('READONLY')
    await admin.replicaof('NO', 'ONE')
    await expect.poll(() => client.redis.client('ID')).not.toBe(before)
  })

  it('the Redis client closes immediately while Redis hangs', async () => {
    const client = await open(redis.url)
    send('SIGSTOP', redis)
    try {
      const answer = expect(client.redis.get('counter')).rejects.toThrow()
      client.close()
      await answer
      await becomes(client, 'end')
    } finally {
      send('SIGCONT', redis)
    }
  })

  it('the Redis client closes while it connects and stops connecting', async () => {
    send('SIGSTOP', redis)
    try {
      const client = await start(redis.url)
      client.close()
      await expect(becomes(client, 'end')).resolves.toBeUndefined()
    } finally {
      send('SIGCONT', redis)
    }
  })

  it('the Redis client decodes the password of the URL', async () => {
    await admin.config('SET', 'requirepass', 'p@ss/wörd')
    onTestEnd(() => admin.config('SET', 'requirepass', ''))
    const password = encodeURIComponent('p@ss/wörd')
    const client = await open(`redis://:${password}@127.0.0.1:${redis.port}`)
    expect(await client.redis.ping()).toBe('PONG')
  })
})
