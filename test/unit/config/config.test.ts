import { describe, expect, it } from 'vitest'
import { ConfigError, parseConfig } from '../../../src/config/config.ts'
import { DAY_MS } from '../../../src/lib/durations.ts'
import { settingsRead } from './settings-read.ts'

const bytes = (count: number, fill = 7) => Buffer.alloc(count, fill)
const base64 = (count: number, fill = 7) => bytes(count, fill).toString('base64')
const SECRET = base64(32)

function problemsOf(env: Record<string, string>): string {
  try {
    parseConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error('expected a ConfigError')
}
const lines = (message: string) => message.split('\n').slice(1)
const named = (env: Record<string, string>) =>
  lines(problemsOf(env)).map((line) => line.trim().replace(/:.*/, ''))

const defaults = parseConfig({})
const webhooks = (setting: object) => ({ webhooks: { ...defaults.webhooks, ...setting } })

const NUMBERS = ['', 'x', '-1', '1.5', '1e3', ' 1', '0x10', '٣', '99999999999']
const noInteger = NUMBERS.filter((text) => text !== '')
// The last: how Node reads a path in Latin-1.
const noPath = [' ', '\t', '\n', ' ./data', './data ', './data\n', '/srv/configura\ufffd\ufffdo']

const invalidSecrets = [
  SECRET,
  `:${SECRET}`,
  'k1:',
  `k1:${base64(31)}`,
  `${'k'.repeat(17)}:${SECRET}`,
  `k 1:${SECRET}`,
  `k1:${SECRET},`,
  `k1:${SECRET},k1:${base64(32, 8)}`,
  `k1:${SECRET},k2:short`,
  `k1:${'!'.repeat(44)}`,
  `k1:${bytes(32).toString('hex').slice(1)}`,
]

const DIGEST = 'ab'.repeat(32)

/** Invalid values of each setting. */
const rejected: Record<string, string[]> = {
  HOST: [
    ...['http://127.0.0.1', '127.0.0.1:3000', '[::1]', '[::1]:3000', '*', ' ', 'a b', 'a,b', 'a/b'],
    ...[
      '0x7f.1',
      '127.1',
      '2130706433',
      '010.0.0.1',
      '10.0.0.256',
      '1.2.3',
      '-a',
      'a-',
      'a..b',
      '.',
    ],
    ...['a'.repeat(64), 'ç', '::1::', ':3000', ' ::1', '::1 ', ' localhost', '127.0.0.1 '],
  ],
  PORT: [...noInteger, '65536'],
  OPERATIONS_PORT: [...noInteger, '65536'],
  MANAGEMENT_PORT: [...noInteger, '65536'],
  MANAGEMENT_TOKENS: [
    ...['platform', `platform:${DIGEST}`, `platform:owner:${DIGEST}`, `:admin:${DIGEST}`],
    ...[`platform:admin:${DIGEST.slice(1)}`, `platform:admin:${DIGEST.toUpperCase()}`],
    `platform:admin:${DIGEST},`,
    `platform:admin:${DIGEST},platform:read:${'cd'.repeat(32)}`,
    `platform:admin:${DIGEST},bi:read:${DIGEST}`,
  ],
  CONSOLE_PORT: [...noInteger, '65536'],
  CONSOLE_URL: [
    ...['console.example', 'ftp://console.example', 'https://console.example/painel'],
    ...['https://user@console.example', 'https://console.example/?a', 'https://console.example/#a'],
  ],
  INDEX_PREFIX: ['Orders', '_x', '-x', 'a b', 'a/b', 'ç', '*', 'a'.repeat(201)],
  REDIS_PREFIX: ['{x}', 'a b', '}'],
  ORDERS_SHARDS: [...noInteger, '0', '65', '1.5'],
  REQUEST_DEADLINE_MS: [...noInteger, '0', '99', '60001'],
  SEARCH_DEADLINE_MS: [...noInteger, '0', '99', '60001'],
  BULK_DEADLINE_MS: [...noInteger, '999', '600001'],
  WRITER_LEASE_MS: [...noInteger, '0', '499', '600001'],
  CURSOR_SECRETS: invalidSecrets,
  WEBHOOK_SECRETS: invalidSecrets,
  KEY_PEPPER: ['x', base64(31), `${SECRET} `, '!'.repeat(44), `"${SECRET}"`],
  TRUST_PROXY: [
    ...['true', 'false', '1', '2', '0', '10', '*', 'loopback', '10.0.0.0/33', '10.0.0.0/'],
    ...[
      '10.0.0.256',
      '::1/129',
      '10.0.0.1,',
      ',',
      '10.0.0.1 10.0.0.2',
      '10.0.0.1,true',
      '0x7f000001',
      '10.1',
      '0.0.0.0/0',
      '0.0.0.0/00',
      '0.0.0.0/1,128.0.0.0/1',
      '::/0',
    ],
  ],
  WORKERS: [...noInteger, '0', '65', '2', '64'], // Several workers need Redis.
  MAX_CONCURRENT_REQUESTS: [...noInteger, '0', '10001'],
  LOG_LEVEL: ['INFO', 'verbose', ' info', '30', 'toString'],
  RATE_LIMIT_CAPACITY: [...noInteger, '0', '1000001'],
  RATE_LIMIT_REFILL_PER_SECOND: [...noInteger, '0', '0.5', '1000001'],
  WEBHOOK_ALLOW: [
    ...['true', '*', 'localhost', '10.0.0.0/33', '10.0.0.256', '127.1', '::1/129', 'fe80::1%eth0'],
    ...['127.0.0.1,', ',', '127.0.0.1 ::1', '10.0.0.0/8,receiver.example'],
  ],
  WEBHOOK_TIMEOUT_MS: [...noInteger, '0', '99', '60001'],
  WEBHOOK_RETRY_SCHEDULE: [
    ...['x', '-1', '1.5', '0,', ',0', '0,,5', '0;5', '604801', '5s'],
    Array.from({ length: 33 }, () => '0').join(','),
  ],
  WEBHOOK_RETENTION_DAYS: [...noInteger, '0', '366'],
  DATA_DIR: noPath,
  OPENSEARCH_CA_FILE: noPath,
  REDIS_CA_FILE: noPath,
  // `config-urls.test.ts` has more of these.
  OPENSEARCH_URL: ['localhost:9200'],
  REDIS_URL: ['localhost:6379'],
  STREAM_REDIS_URL: ['localhost:6379'],
  WEBHOOK_PROXY_URL: ['proxy:3128'],
  OPERATOR_WEBHOOK_URL: ['ops.example'],
}

/** `kafka.test.ts` and `tracing.test.ts` have these. */
const IN_OTHER_TESTS = /^(KAFKA|OTEL)_/

const accepted: [name: string, value: string, setting: object][] = [
  ...[
    '0.0.0.0',
    '10.0.0.1',
    '::',
    '::1',
    'fe80::1%eth0',
    'localhost',
    'api-1',
    'my_host.example',
  ].map((host): [string, string, object] => ['HOST', host, { host }]),
  ['INDEX_PREFIX', 'a'.repeat(200), { indexPrefix: 'a'.repeat(200) }],
  ['PORT', '0', { port: 0 }],
  ['PORT', '65535', { port: 65_535 }],
  ['OPERATIONS_PORT', '9000', { operationsPort: 9000 }],
  ['MANAGEMENT_PORT', '9001', { managementPort: 9001 }],
  [
    'MANAGEMENT_TOKENS',
    `platform:admin:${DIGEST}, bi_1:read:${'cd'.repeat(32)}`,
    {
      managementTokens: [
        { name: 'platform', role: 'admin', digest: Buffer.from(DIGEST, 'hex') },
        { name: 'bi_1', role: 'read', digest: Buffer.alloc(32, 0xcd) },
      ],
    },
  ],
  ['CONSOLE_PORT', '9002', { consolePort: 9002 }],
  ['CONSOLE_URL', 'https://console.example/', { consoleUrl: 'https://console.example' }],
  ['DATA_DIR', '/var/lib/orders', { dataDir: '/var/lib/orders' }],
  ['OPENSEARCH_CA_FILE', '/etc/ca.pem', { opensearchCaFile: '/etc/ca.pem' }],
  ['REDIS_CA_FILE', './ca.pem', { redisCaFile: './ca.pem' }],
  ['INDEX_PREFIX', '9a_b-c', { indexPrefix: '9a_b-c' }],
  ['REDIS_PREFIX', 'Prod:', { redisPrefix: 'Prod:' }],
  ['ORDERS_SHARDS', '64', { ordersShards: 64 }],
  ['REQUEST_DEADLINE_MS', '60000', { requestDeadlineMs: 60_000 }],
  ['REQUEST_DEADLINE_MS', '1000', { requestDeadlineMs: 1_000, searchDeadlineMs: 800 }],
  ['SEARCH_DEADLINE_MS', '100', { searchDeadlineMs: 100 }],
  ['SEARCH_DEADLINE_MS', '60000', { searchDeadlineMs: 2_000 }],
  ['BULK_DEADLINE_MS', '600000', { bulkDeadlineMs: 600_000 }],
  ['WRITER_LEASE_MS', '500', { writerLeaseMs: 500 }],
  ['KEY_PEPPER', SECRET, { keyPepper: bytes(32) }],
  ['KEY_PEPPER', SECRET.replace(/=+$/, ''), { keyPepper: bytes(32) }],
  ['KEY_PEPPER', base64(64), { keyPepper: bytes(64) }],
  ['CURSOR_SECRETS', `k1:${SECRET}`, { cursorSecrets: [{ kid: 'k1', secret: bytes(32) }] }],
  [
    'CURSOR_SECRETS',
    `${'k'.repeat(16)}:${SECRET}, old_-9:${base64(33, 8)}`,
    {
      cursorSecrets: [
        { kid: 'k'.repeat(16), secret: bytes(32) },
        { kid: 'old_-9', secret: bytes(33, 8) },
      ],
    },
  ],
  ['WEBHOOK_SECRETS', `k1:${SECRET}`, { webhookSecrets: [{ kid: 'k1', secret: bytes(32) }] }],
  ['WEBHOOK_TIMEOUT_MS', '60000', webhooks({ timeoutMs: 60_000 })],
  ['WEBHOOK_RETRY_SCHEDULE', '0', webhooks({ retryDelaysMs: [0] })],
  [
    'WEBHOOK_RETRY_SCHEDULE',
    '604800,604800,604800',
    webhooks({ retryDelaysMs: Array(3).fill(7 * DAY_MS), retentionMs: 35 * DAY_MS }),
  ],
  ['WEBHOOK_RETRY_SCHEDULE', '0, 1,604800', webhooks({ retryDelaysMs: [0, 1_000, 604_800_000] })],
  [
    'WEBHOOK_RETENTION_DAYS',
    '365',
    webhooks({ configuredRetentionMs: 365 * DAY_MS, retentionMs: 365 * DAY_MS }),
  ],
  [
    'WEBHOOK_RETENTION_DAYS',
    '12',
    webhooks({ configuredRetentionMs: 12 * DAY_MS, retentionMs: 12 * DAY_MS }),
  ],
  [
    'WEBHOOK_RETENTION_DAYS',
    '1',
    webhooks({ configuredRetentionMs: DAY_MS, retentionMs: 12 * DAY_MS }),
  ],
  ['TRUST_PROXY', '10.0.0.0/8', { trustProxy: ['10.0.0.0/8'] }],
  ['TRUST_PROXY', '127.0.0.1, ::1 ,fd00::/16', { trustProxy: ['127.0.0.1', '::1', 'fd00::/16'] }],
  ['WORKERS', '1', { workers: 1 }],
  ['MAX_CONCURRENT_REQUESTS', '10000', { maxConcurrentRequests: 10_000 }],
  ['LOG_LEVEL', 'silent', { logLevel: 'silent' }],
  ['RATE_LIMIT_CAPACITY', '1', { rateLimit: { capacity: 1, refillPerSecond: 10 } }],
  ['RATE_LIMIT_REFILL_PER_SECOND', '500', { rateLimit: { capacity: 20, refillPerSecond: 500 } }],
]

describe('parseConfig', () => {
  it('parseConfig has a default for every setting', () => {
    expect(parseConfig({})).toEqual({
      host: '127.0.0.1',
      port: 3000,
      operationsPort: undefined,
      managementPort: undefined,
      managementTokens: [],
      consolePort: undefined,
      consoleUrl: undefined,
      dataDir: './data',
      opensearchUrls: undefined,
      opensearchCaFile: undefined,
      indexPrefix: '',
      ordersShards: 1,
      requestDeadlineMs: 2500,
      searchDeadlineMs: 2000,
      bulkDeadlineMs: 30_000,
      writerLeaseMs: 10_000,
      redisUrls: undefined,
      streamRedisUrls: undefined,
      redisCaFile: undefined,
      redisPrefix: '',
      cursorSecrets: undefined,
      keyPepper: undefined,
      webhookSecrets: undefined,
      trustProxy: [],
      workers: 1,
      maxConcurrentRequests: 256,
      logLevel: 'info',
      rateLimit: { capacity: 20, refillPerSecond: 10 },
      webhooks: {
        allow: [],
        timeoutMs: 15_000,
        retryDelaysMs: [
          ...[0, 5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000],
          ...[21_600_000, 28_800_000, 43_200_000, 43_200_000, 43_200_000, 43_200_000, 8_245_000],
        ],
        proxyUrl: undefined,
        operatorUrl: undefined,
        configuredRetentionMs: 2_592_000_000,
        retentionMs: 2_592_000_000,
      },
    })
  })

  it('every setting has invalid values in a test', () => {
    const own = settingsRead().filter((name) => !IN_OTHER_TESTS.test(name))
    const missing = own.filter((name) => !(name in rejected))
    expect(missing, 'add invalid values of these settings to `rejected`').toEqual([])
  })

  it.each(Object.keys(rejected))('treats an empty %s as unset', (name) => {
    expect(parseConfig({ [name]: '' })).toEqual(defaults)
  })

  it.each(accepted)('accepts %s=%s', (name, value, setting) => {
    expect(parseConfig({ [name]: value })).toEqual({ ...defaults, ...setting })
  })

  it('ignores unknown variables', () => {
    expect(parseConfig({ PATH: '/bin', PORTS: 'x' })).toEqual(defaults)
  })

  it('returns a frozen object', () => {
    expect(Object.isFrozen(parseConfig({}))).toBe(true)
  })

  describe.each(Object.entries(rejected))('an invalid %s', (name, values) => {
    it.each(values)(
      'parseConfig reports the invalid value %j by the name of its setting',
      (value) => {
        expect(named({ [name]: value })).toEqual([name])
      },
    )
  })

  it('reports all invalid settings at once', () => {
    const env = Object.fromEntries(
      Object.entries(rejected).map(([name, [first = '']]) => [name, first]),
    )
    expect(named(env).sort(byText)).toEqual(Object.keys(rejected).sort(byText))
  })

  it.each([2, 64])('accepts WORKERS=%i with REDIS_URL', (workers) => {
    const env = { WORKERS: String(workers), REDIS_URL: 'redis://localhost' }
    expect(parseConfig(env)).toMatchObject({ workers })
    expect(problemsOf({ WORKERS: env.WORKERS })).toContain('WORKERS: more than 1 needs REDIS_URL')
  })

  it('retries a delivery for 72 hours by default', () => {
    const { retryDelaysMs } = parseConfig({}).webhooks
    expect(retryDelaysMs.reduce((sum, delay) => sum + delay, 0)).toBe(72 * 3_600_000)
  })

  it('accepts OpenSearch without WEBHOOK_SECRETS, as before there were webhooks', () => {
    const env = {
      OPENSEARCH_URL: 'http://search-1:9200',
      CURSOR_SECRETS: `k1:${SECRET}`,
      KEY_PEPPER: SECRET,
    }
    expect(parseConfig(env).webhookSecrets).toBeUndefined()
  })

  it('parses the networks of WEBHOOK_ALLOW, and names each invalid one', () => {
    const { allow } = parseConfig({ WEBHOOK_ALLOW: '127.0.0.1, 10.1.0.0/16' }).webhooks
    expect(allow.map(({ address, prefix }) => `${address}/${prefix}`)).toEqual([
      '127.0.0.1/32',
      '10.1.0.0/16',
    ])
    const message = problemsOf({ WEBHOOK_ALLOW: '127.0.0.1,localhost,10.0.0.0/33' })
    expect(message).toContain('WEBHOOK_ALLOW: "localhost" is not a complete address; "10.0.0.0/33"')
  })

  it('rejects one port for the API and the operations', () => {
    expect(problemsOf({ PORT: '3001', OPERATIONS_PORT: '3001' })).toContain(
      'OPERATIONS_PORT: expected a port other than PORT',
    )
    expect(parseConfig({ PORT: '0', OPERATIONS_PORT: '0' })).toMatchObject({ operationsPort: 0 })
    expect(parseConfig({ OPERATIONS_PORT: '3000' })).toMatchObject({ operationsPort: 3000 })
  })

  it.each([
    ['MANAGEMENT_PORT', 'OPERATIONS_PORT'],
    ['CONSOLE_PORT', 'MANAGEMENT_PORT'],
    ['CONSOLE_PORT', 'PORT'],
  ])('rejects one port for %s and %s', (name, other) => {
    const ports = { [other]: '4000', [name]: '4000' }
    expect(problemsOf(ports)).toContain(`${name}: expected a port other than ${other}`)
  })

  it.each(['DATA_DIR', 'OPENSEARCH_CA_FILE', 'REDIS_CA_FILE'])(
    'the error of a blank %s says what to do',
    (name) => {
      expect(problemsOf({ [name]: ' ' })).toContain(
        `${name}: expected a path in UTF-8, without quotes around it or spaces at its ends; correct it, or leave it empty for the default`,
      )
    },
  )

  it.each(['/srv/my data', "/srv/d'or/l'an", "'ana"])('accepts the path %s', (path) => {
    expect(parseConfig({ DATA_DIR: path }).dataDir).toBe(path)
  })

  it.each(['"/data"', "'/data'"])(
    'rejects the path %s, whose quotes an --env-file of Docker keeps',
    (path) => {
      expect(named({ DATA_DIR: path })).toEqual(['DATA_DIR'])
    },
  )

  it('reports the valid range of a number', () => {
    expect(problemsOf({ PORT: 'x' })).toContain('PORT: expected an integer from 0 to 65535')
  })

  it('reports only the invalid setting', () => {
    expect(named({ HOST: '::', PORT: '1', LOG_LEVEL: 'loud', WORKERS: '1' })).toEqual(['LOG_LEVEL'])
  })

  it('parseConfig never quotes a secret in an error', () => {
    const secret = 'c2VjcmV0LXRoYXQtaXMtdG9vLXNob3J0'
    const url = 'ftp://admin:hunter2@search:9200'
    const message = problemsOf({
      KEY_PEPPER: secret.slice(1),
      CURSOR_SECRETS: `k1:${SECRET},k2:${secret}x`,
      WEBHOOK_SECRETS: `k1:${SECRET},k2:${secret}x`,
      OPENSEARCH_URL: url,
      REDIS_URL: url,
      WEBHOOK_PROXY_URL: url,
      OPERATOR_WEBHOOK_URL: url,
    })
    for (const part of [secret.slice(1), SECRET, 'hunter2']) expect(message).not.toContain(part)
  })
})

function byText(one: string, other: string): number {
  return one < other ? -1 : 1
}
