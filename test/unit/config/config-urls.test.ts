import { describe, expect, it } from 'vitest'
import { ConfigError, parseConfig } from '../../../src/config/config.ts'

const SECRET = Buffer.alloc(32, 7).toString('base64')
const secrets = { CURSOR_SECRETS: `k1:${SECRET}`, KEY_PEPPER: SECRET }

/** Includes the secrets, so that only the URL can be invalid. */
const parsed = (name: string, value: string) => parseConfig({ ...secrets, [name]: value })

function problemsOf(env: Record<string, string>): string[] {
  try {
    parseConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n').slice(1)
    throw error
  }
  return []
}
const named = (env: Record<string, string>) =>
  problemsOf(env).map((line) => line.trim().replace(/:.*/, ''))

/** URLs that every setting rejects; `p` is a valid protocol. */
const invalidAddresses = (p: string) => [
  ...['search', 'localhost:9200', '127.0.0.1', '//search:9200', '/var/run/x.sock', 'true', '1'],
  ...[`${p}://`, `${p}:///`, `${p}://:9200`, `${p}://user:word@`, `${p}://user:word@:9200`],
  ...[`${p}://a:65536`, `${p}://a:x`, `${p}://a:-1`, `${p}://::1:9200`, `${p}://[::1`],
  ...[`${p}://a b`, `${p}://a ${p}://b`, `${p}://a<b`, `${p}://user:wo,rd@a`],
  ...[',', `${p}://a,`, `,${p}://a`, `${p}://a,,${p}://b`, `${p}://a, ,${p}://b`, `${p}://a,b`],
  ...[
    `${p}://user:100%@a`,
    `${p}://user@a:1,${p}://b`,
    `${p}://us%ffer:word@a`,
    `${p}://user@a`,
    `${p}://a:1,${p}://a:1/`,
  ],
  ...[`${p}://a:0`, `${p}://a?db=x`, `${p}://a/?x=1`, `${p}://a#x`, `${p}://a:1,${p}://b?x=1`],
  ...[`ftp://a`, `file:///a`, `ws://a`, `javascript:1`, `${p}x://a`, `${p}://a,ftp://b`],
]

describe('OPENSEARCH_URL', () => {
  it.each([
    ['http://localhost:9200', ['http://localhost:9200/']],
    ['https://search', ['https://search/']],
    ['HTTP://Search-1:9200', ['http://search-1:9200/']],
    ['http://127.0.0.1:9200', ['http://127.0.0.1:9200/']],
    ['http://[::1]:9200', ['http://[::1]:9200/']],
    ['https://search.example/cluster/a', ['https://search.example/cluster/a']],
    ['http://a:1,http://b:2,http://c:3', ['http://a:1/', 'http://b:2/', 'http://c:3/']],
    [' http://a:1 ,\thttp://b:2 ', ['http://a:1/', 'http://b:2/']],
    ['https://user:word@a:1', ['https://user:word@a:1/']],
    ['https://user:word@a:1,https://b:2', ['https://user:word@a:1/', 'https://b:2/']],
    ['https://us%40er:w%2Co%2Frd@a', ['https://us%40er:w%2Co%2Frd@a/']],
  ])('accepts %s', (value, opensearchUrls) => {
    expect(parsed('OPENSEARCH_URL', value)).toMatchObject({ opensearchUrls })
  })

  it.each([
    ...invalidAddresses('http'),
    ...['redis://a:6379', 'rediss://a', 'http://a,https://b', 'https://a,http://b,https://c'],
    'http://:word@a',
  ])('rejects %j', (value) => {
    expect(named({ ...secrets, OPENSEARCH_URL: value })).toEqual(['OPENSEARCH_URL'])
  })

  it.each([
    [{}, ['CURSOR_SECRETS', 'KEY_PEPPER']],
    [{ KEY_PEPPER: SECRET }, ['CURSOR_SECRETS']],
    [{ CURSOR_SECRETS: `k1:${SECRET}` }, ['KEY_PEPPER']],
    [{ CURSOR_SECRETS: '', KEY_PEPPER: '' }, ['CURSOR_SECRETS', 'KEY_PEPPER']],
    [secrets, []],
  ])('OPENSEARCH_URL with %j reports the missing settings %j', (env, lacking) => {
    const problems = problemsOf({ OPENSEARCH_URL: 'http://localhost:9200', ...env })
    expect(problems).toEqual(lacking.map((name) => `  ${name}: required with OPENSEARCH_URL`))
  })

  it('reports an invalid secret once, and not as missing too', () => {
    const env = { OPENSEARCH_URL: 'http://localhost:9200', CURSOR_SECRETS: 'x', KEY_PEPPER: 'x' }
    expect(named(env)).toEqual(['CURSOR_SECRETS', 'KEY_PEPPER'])
  })

  it('requires no secrets when it is unset', () => {
    expect(parseConfig({ REDIS_URL: 'redis://localhost' })).toMatchObject({
      cursorSecrets: undefined,
      keyPepper: undefined,
    })
  })
})

describe.each([
  ['REDIS_URL', 'redisUrls'],
  ['STREAM_REDIS_URL', 'streamRedisUrls'],
])('%s', (name, setting) => {
  it.each([
    ['redis://localhost', ['redis://localhost']],
    ['redis://localhost:6379', ['redis://localhost:6379']],
    ['rediss://cache:6380', ['rediss://cache:6380']],
    ['redis://[::1]:6379', ['redis://[::1]:6379']],
    ['redis://cache/3', ['redis://cache/3']],
    ['redis://cache:6379?family=6', ['redis://cache:6379?family=6']],
    ['redis://:word@cache', ['redis://:word@cache']],
    ['rediss://user:w%2Cord@cache', ['rediss://user:w%2Cord@cache']],
    ['redis://a:1,redis://b:2', ['redis://a:1', 'redis://b:2']],
    ['redis://a:1/0,redis://b:2/', ['redis://a:1/0', 'redis://b:2/']],
    [' rediss://a:1 , rediss://b:2', ['rediss://a:1', 'rediss://b:2']],
  ])('accepts %s', (value, urls) => {
    expect(parsed(name, value)).toMatchObject({ [setting]: urls })
  })

  it.each([
    ...invalidAddresses('redis'),
    ...['http://a:6379', 'redis:a', 'redis:/a', 'unix:///var/run/redis.sock', 'redis://a/abc'],
    ...['redis://a,rediss://b', 'rediss://a,redis://b,rediss://c'],
    ...['redis://a?family=5', 'redis://a?family=6&db=1', 'redis://a?Family=6'],
    ...['redis://a/1,redis://b', 'redis://a,redis://b/2', 'redis://a/1,redis://b/1'],
  ])('rejects %j', (value) => {
    expect(named({ [name]: value })).toEqual([name])
  })

  it('requires no other setting', () => {
    expect(named({ [name]: 'redis://localhost' })).toEqual([])
  })
})

describe('WEBHOOK_PROXY_URL', () => {
  it.each([
    ['http://proxy:3128', 'http://proxy:3128/'],
    ['https://user:w%40rd@proxy', 'https://user:w%40rd@proxy/'],
    ['http://[::1]:3128/', 'http://[::1]:3128/'],
  ])('accepts %s', (value, proxyUrl) => {
    expect(parsed('WEBHOOK_PROXY_URL', value).webhooks).toMatchObject({ proxyUrl })
  })

  it.each([
    ...invalidAddresses('http'),
    ...['socks5://proxy', 'http://a,http://b', 'http://proxy/path', 'http://proxy:0'],
  ])('rejects %j', (value) => {
    expect(named({ WEBHOOK_PROXY_URL: value })).toEqual(['WEBHOOK_PROXY_URL'])
  })
})

describe('OPERATOR_WEBHOOK_URL', () => {
  it.each(['https://ops.example/hooks/webhooks?token=a,b', 'http://10.0.0.1:8080/'])(
    'accepts %s',
    (value) => {
      expect(parsed('OPERATOR_WEBHOOK_URL', value).webhooks).toMatchObject({ operatorUrl: value })
    },
  )

  it.each([
    ...['ops.example', 'ftp://ops.example', 'https://', 'https://user:word@ops.example'],
    ...[
      'https://user@ops.example',
      'https://ops.example/#part',
      'https://ops.example:0',
      'https:// ',
    ],
  ])('rejects %j', (value) => {
    expect(named({ OPERATOR_WEBHOOK_URL: value })).toEqual(['OPERATOR_WEBHOOK_URL'])
  })
})

describe('a CA file', () => {
  const PLAIN_SEARCH = { ...secrets, OPENSEARCH_URL: 'http://search-1:9200,http://search-2:9200' }
  const CA = { OPENSEARCH_CA_FILE: '/ca.pem', REDIS_CA_FILE: '/ca.pem' }

  it.each([
    ['OPENSEARCH_CA_FILE', 'OpenSearch', PLAIN_SEARCH],
    ['REDIS_CA_FILE', 'the limits', { REDIS_URL: 'redis://redis:6379' }],
    ['REDIS_CA_FILE', 'the stream', { STREAM_REDIS_URL: 'redis://redis:6379' }],
    [
      'REDIS_CA_FILE',
      'both',
      { REDIS_URL: 'redis://a:6379,redis://b:6379', STREAM_REDIS_URL: 'REDIS://c:6379' },
    ],
  ])('%s is refused when the connection of %s has no TLS', (name, _of, urls) => {
    expect(problemsOf({ ...urls, [name]: '/ca.pem' })).toEqual([
      expect.stringMatching(
        new RegExp(`^  ${name}: expected (https|rediss)://.* in .*_URL, .*; .* or remove ${name}$`),
      ),
    ])
  })

  it.each([
    ['OpenSearch', { ...secrets, OPENSEARCH_URL: 'https://search' }],
    ['the limits', { REDIS_URL: 'rediss://a', STREAM_REDIS_URL: 'redis://b' }],
    ['the stream', { REDIS_URL: 'redis://a', STREAM_REDIS_URL: 'rediss://b' }],
    ['no store', {}],
  ])('is accepted with TLS to %s', (_to, urls) => {
    const name = 'OPENSEARCH_URL' in urls ? 'OPENSEARCH_CA_FILE' : 'REDIS_CA_FILE'
    expect(problemsOf({ ...urls, [name]: '/ca.pem' })).toEqual([])
  })

  it('is not reported beside an invalid URL', () => {
    const urls = { ...secrets, OPENSEARCH_URL: 'search:9200', REDIS_URL: 'redis:6379' }
    expect(named({ ...urls, ...CA })).toEqual(['OPENSEARCH_URL', 'REDIS_URL'])
  })
})
