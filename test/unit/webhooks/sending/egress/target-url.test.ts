import { describe, expect, it } from 'vitest'
import {
  everyNetwork,
  parseNetworks,
} from '../../../../../src/webhooks/sending/egress/address-policy.ts'
import {
  checkTargetUrl,
  proxiedTargetProblem,
} from '../../../../../src/webhooks/sending/egress/target-url.ts'
import {
  forbiddenIpv4,
  forbiddenIpv6,
  spellings,
} from '../../../../support/webhooks/sending/forbidden-addresses.ts'

const allow = (list: string) => parseNetworks(list).networks
const problemOf = (text: string, list = '') => {
  const result = checkTargetUrl(text, list === '' ? [] : allow(list))
  return 'problem' in result ? result.problem : null
}

const spelled = forbiddenIpv4.flatMap(([range, first, last]) =>
  [...new Set([first, last])].flatMap((address) =>
    spellings(address).map(([spelling, host]) => [range, address, spelling, host] as const),
  ),
)

const bracketed = forbiddenIpv6.flatMap(([range, first, last]) =>
  [first, last].flatMap((address) =>
    [address, address.toUpperCase()].map((text) => [range, `[${text}]`] as const),
  ),
)

/** Names that every system resolves to the loopback address. */
const localNames = [
  'localhost',
  'LOCALHOST',
  'LocalHost.',
  'localhost..',
  'receiver.localhost',
  'a.b.localhost.',
  'ｌｏｃａｌｈｏｓｔ',
  '%6cocalhost',
  'local%68ost.',
  'ⓛocalhost',
  'local\u00ADhost',
]

/** Each text, and what its problem says. */
const rejected: [text: string, culprit: string][] = [
  ['', 'is not valid'],
  ['example.com/webhooks', 'is not valid'],
  ['https://', 'is not valid'],
  ['https://exa mple.com', 'a blank'],
  ['https://exa%20mple.com', 'is not valid'],
  ['https://example.com:99999', 'is not valid'],
  ['https://[::1', 'is not valid'],
  ['https://[fe80::1%25eth0]/', 'is not valid'],
  ['https://[fe80::1%eth0]/', 'is not valid'],
  ['https://1.2.3.4.5/', 'is not valid'],
  ['https://256.256.256.256/', 'is not valid'],
  ['https://4294967296/', 'is not valid'],
  ['https://example.0x7f/', 'is not valid'],
  [' https://example.com', 'a blank'],
  ['https://example.com\n', 'a blank'],
  ['https://exam\tple.com', 'a blank'],
  ['https://example.com/\u0000', 'a control character'],
  ['https://example.com/\u00A0', 'a blank'],
  ['http://example.com/webhooks', 'uses http:'],
  ['HTTP://example.com/webhooks', 'uses http:'],
  ['ftp://example.com', 'uses ftp:'],
  ['file:///etc/passwd', 'uses file:'],
  ['javascript:alert(1)', 'uses javascript:'],
  ['data:text/plain,x', 'uses data:'],
  ['ws://example.com', 'uses ws:'],
  ['unix:/var/run/docker.sock', 'uses unix:'],
  ['https://user@example.com', 'credentials'],
  ['https://user:secret@example.com', 'credentials'],
  ['https://:secret@example.com', 'credentials'],
  ['https://example.com@10.0.0.1', 'credentials'],
  ['https://example.com%40:x@10.0.0.1', 'credentials'],
  ['https://example.com:443@10.0.0.1/', 'credentials'],
  ['https://example.com#', 'fragment'],
  ['https://example.com/#top', 'fragment'],
  ['https://10.0.0.1\\@example.com/', '10.0.0.1'],
  ['https://10.0.0.1/?@example.com', '10.0.0.1'],
  ['https:10.0.0.1', '10.0.0.1'],
  ['https:\\\\10.0.0.1\\x', '10.0.0.1'],
  ['https:///10.0.0.1', '10.0.0.1'],
  ['https://example.com:80', 'port 80'],
  ['https://example.com:22/', 'port 22'],
  ['https://example.com:0/', 'port 0'],
  ['https://example.com:9200/', 'port 9200'],
  ['https://example.com./', 'dot at the end'],
]

describe('the check of an endpoint URL', () => {
  it.each(spelled)('the check refuses the %s address %s as %s: %s', (_range, _address, _, host) => {
    expect(problemOf(`https://${host}/webhooks`)).toMatch(/not a public address|is not valid/)
  })

  it.each(bracketed)('the check refuses the %s address %s', (_range, host) => {
    expect(problemOf(`https://${host}/webhooks`)).toContain('not a public address')
  })

  it.each(localNames)('the check refuses the name %s', (host) => {
    expect(problemOf(`https://${host}/`)).toContain('not a public address')
  })

  it.each(rejected)('the check refuses %j: %s', (text, culprit) => {
    expect(problemOf(text)).toContain(culprit)
  })

  it.each([
    ['https://example.com', 'https://example.com/'],
    ['https://example.com/webhooks?source=orders', 'https://example.com/webhooks?source=orders'],
    ['https://example.com:443/x', 'https://example.com/x'],
    ['https://example.com:8443/x', 'https://example.com:8443/x'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700::1111]:8443/', 'https://[2606:4700::1111]:8443/'],
    ['https://[::ffff:8.8.8.8]/', 'https://[::ffff:808:808]/'],
    ['https://EXAMPLE.com/Ação', 'https://example.com/A%C3%A7%C3%A3o'],
    ['https://pedidos.münchen.example/', 'https://pedidos.xn--mnchen-3ya.example/'],
    ['https://example.com\\@10.0.0.1/', 'https://example.com/@10.0.0.1/'],
    ['https://localhost.example.com/', 'https://localhost.example.com/'],
    ['https://notlocalhost/', 'https://notlocalhost/'],
  ])('the check accepts %s as %s', (text, url) => {
    expect(checkTargetUrl(text, [])).toEqual({ url })
  })

  it('a URL may have 2,048 characters, and not one more', () => {
    const longest = `https://example.com/${'x'.repeat(2_028)}`
    expect(problemOf(longest)).toBeNull()
    expect(problemOf(`${longest}x`)).toContain('2049 characters; use at most 2048')
  })

  it('the characters of a URL count as they are sent', () => {
    expect(problemOf(`https://example.com/${'ç'.repeat(500)}`)).toContain('3020 characters')
  })

  it('a problem repeats no credentials and no query', () => {
    const problem = problemOf('https://user:s3cret@example.com/?token=t0ken')
    expect(problem).not.toMatch(/s3cret|t0ken/)
  })
})

describe('the check of an endpoint URL with WEBHOOK_ALLOW', () => {
  it.each([
    ['127.0.0.0/8', 'http://127.0.0.1:3000/x'],
    ['127.0.0.0/8', 'https://127.0.0.1:3000/x'],
    ['127.0.0.0/8', 'http://2130706433/x'],
    ['127.0.0.0/8', 'http://[::ffff:127.0.0.1]:80/x'],
    ['127.0.0.0/8', 'http://localhost:3000/x'],
    ['::1', 'http://localhost:3000/x'],
    ['::1', 'http://receiver.localhost:3000/x'],
    ['172.16.0.0/12', 'http://receiver:8080/x'],
    ['172.16.0.0/12', 'https://example.com/x'],
  ])('with %s, the check accepts %s', (list, text) => {
    expect(problemOf(text, list)).toBeNull()
  })

  it.each([
    ['127.0.0.0/8', 'http://10.0.0.1:3000/x', '10.0.0.1'],
    ['127.0.0.0/8', 'https://[::1]/x', '[::1]'],
    ['10.0.0.0/8', 'http://localhost:3000/x', 'localhost'],
    ['127.0.0.0/8', 'http://8.8.8.8/x', 'uses http:'],
    ['127.0.0.0/8', 'https://8.8.8.8:3000/x', 'port 3000'],
    ['127.0.0.0/8', 'http://user:x@127.0.0.1/x', 'credentials'],
    ['127.0.0.0/8', 'http://127.0.0.1/#x', 'fragment'],
    ['127.0.0.0/8', 'ftp://127.0.0.1/', 'uses ftp:'],
  ])('with %s, the check still refuses %s: %s', (list, text, culprit) => {
    expect(problemOf(text, list)).toContain(culprit)
  })
})

describe('the check of a target behind an egress proxy', () => {
  const problemBehindProxy = (text: string) => proxiedTargetProblem(new URL(text), everyNetwork)

  it.each([
    ['http://receiver:8080/', 'uses http:'],
    ['https://receiver:8080/', 'port 8080'],
    ['https://localhost/', 'localhost'],
  ])('the check refuses %s, because the name stays unresolved: %s', (text, culprit) => {
    expect(problemBehindProxy(text)).toContain(culprit)
  })

  it.each(['https://8.8.8.8:9200/', 'http://127.0.0.1:3000/', 'https://example.com:8443/'])(
    'the check accepts %s',
    (text) => {
      expect(problemBehindProxy(text)).toBeNull()
    },
  )
})
