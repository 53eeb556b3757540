import fc from 'fast-check'
import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { parseTrustedProxies, trustsProxy } from '../../../src/config/trusted-proxies.ts'

const range = (from: number, to: number, entry: (n: number) => string) =>
  Array.from({ length: to - from + 1 }, (_, n) => entry(from + n)).join()

const CALLER = '192.0.2.1'

/** The client address that the service sees for a connection of `peer` with a forwarded header. */
async function callerBehind(networks: string[], peer: string, forwarded = CALLER): Promise<string> {
  const app = Fastify({ trustProxy: trustsProxy(networks) })
  app.get('/', async ({ ip }) => ip)
  const headers = { 'x-forwarded-for': forwarded }
  const { body } = await app.inject({ url: '/', headers, remoteAddress: peer })
  return body
}

/** Each list, an address inside, and one just outside. */
const accepted: [list: string, trusted: string, other: string][] = [
  ['10.0.0.1', '10.0.0.1', '10.0.0.2'],
  ['10.0.0.1/32', '10.0.0.1', '10.0.0.2'],
  ['10.0.0.0/8', '10.255.255.255', '11.0.0.0'],
  ['10.1.2.3/8', '10.255.255.255', '11.0.0.0'],
  ['0.0.0.0/8', '0.1.2.3', '1.0.0.0'],
  ['172.30.231.0/28', '172.30.231.15', '172.30.231.16'],
  ['10.0.0.0/8', '::ffff:10.0.0.1', '::ffff:11.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1', '10.0.0.2'],
  ['::ffff:10.0.0.1/128', '10.0.0.1', '10.0.0.2'],
  ['::FFFF:a00:0/104', '10.255.255.255', '11.0.0.0'],
  ['::1', '::1', '::2'],
  ['0:0::0001/128', '::1', '::2'],
  ['fd00::/16', 'fd00:ffff::1', 'fd01::1'],
  ['2001:db8::/32', '2001:db8:ffff::', '2001:db9::'],
  ['64:ff9b::10.0.0.0/104', '64:ff9b::10.1.2.3', '64:ff9b::11.0.0.1'],
  [' 10.0.0.1 ,\t::1 ', '::1', '::2'],
  [range(1, 16, (n) => `${n}.0.0.0/8`), '16.0.0.1', '17.0.0.1'],
  [range(0, 99, () => '10.0.0.0/8'), '10.0.0.1', '11.0.0.1'],
  [`10.0.0.0/8,${range(0, 255, (n) => `10.${n}.0.0/16`)}`, '10.0.0.1', '11.0.0.1'],
]

/** Each list, the reported entry, and the reason. */
const rejected: [list: string, entry: string, reason: string][] = [
  ...['0.0.0.0/0', '0.0.0.0/1', '128.0.0.0/1', '10.0.0.0/7'].map(
    (entry) => [entry, entry, 'is larger than a /8'] as [string, string, string],
  ),
  ...['::/0', '8000::/1', 'fd00::/8', 'fc00::/7', 'fe80::/10', '2001::/15'].map(
    (entry) => [entry, entry, 'is larger than a /16'] as [string, string, string],
  ),
  ...['::ffff:0:0/96', '::ffff:0.0.0.0/97', '::ffff:128.0.0.0/97', '::ffff:10.0.0.0/103'].map(
    (entry) => [entry, entry, 'contains more of IPv4 than a /8'] as [string, string, string],
  ),
  ...['::/16', '::/80', '::ffff:0:0/95', '::0.0.0.0/96', '::ffff:10.0.0.1/16'].map(
    (entry) => [entry, entry, 'contains more of IPv4 than a /8'] as [string, string, string],
  ),
  ...['10.0.0.0/', '10.0.0.0/00', '0.0.0.0/00', '10.0.0.0/08', '10.0.0.0/33', '10.0.0.0/128'].map(
    (entry) => [entry, entry, 'up to 32'] as [string, string, string],
  ),
  ...['10.0.0.0/-8', '10.0.0.0/+8', '10.0.0.0/8.0', '10.0.0.0/1e1', '10.0.0.0/0x8'].map(
    (entry) => [entry, entry, 'up to 32'] as [string, string, string],
  ),
  ...['10.0.0.0/255.0.0.0', '0.0.0.0/0.0.0.0', '10.0.0.0/ 8', '10.0.0.0/8/8', '10.0.0.0/٨'].map(
    (entry) => [entry, entry, 'up to 32'] as [string, string, string],
  ),
  ...['::1/', '::1/0128', '::1/129', '::1/ffff::', 'fe80::/64%eth0', '::1/999'].map(
    (entry) => [entry, entry, 'up to 128'] as [string, string, string],
  ),
  ...['010.0.0.1', '10.0.0.01', '0x0a.0.0.1', '0x7f000001', '2130706433', '10.1', '1'].map(
    (entry) => [entry, entry, 'is not a complete address'] as [string, string, string],
  ),
  ...['::ffff:010.0.0.1', '::ffff:0x0a.0.0.1', '::ffff:10.1', '00001::1', '1::2::3'].map(
    (entry) => [entry, entry, 'is not a complete address'] as [string, string, string],
  ),
  ...[
    'fe80::1%eth0',
    'fe80::1%eth0/64',
    '::ffff:1.2.3.4%1',
    '[::1]',
    '[::1]:80',
    '10.0.0.1:80',
  ].map((entry) => [entry, entry, 'is not a complete address'] as [string, string, string]),
  ...['', 'true', '*', 'loopback', 'uniquelocal', 'localhost', '10.0.0.256', '10.0.0.1 ::1'].map(
    (entry) => [entry, entry, 'is not a complete address'] as [string, string, string],
  ),
  ['10.0.0.1,', '', 'is not a complete address'],
  ['10.0.0.1,x,::1', 'x', 'is not a complete address'],
]

const PROXIES = ['10.0.0.0/8', 'fd00::/16']

/** Entries of `X-Forwarded-For`, the one of the proxy that is connected last. */
const forwardedThrough: [forwarded: string, client: string][] = [
  [`${CALLER}, 10.0.0.7:52311`, CALLER],
  [`${CALLER}, [fd00::7]:443`, CALLER],
  [`${CALLER}, [fd00::7]`, CALLER],
  [`${CALLER}, [::ffff:10.0.0.7]:52311, 10.0.0.8:1`, CALLER],
  [`${CALLER}:40000, 10.0.0.7:52311`, `${CALLER}:40000`],
  // The client wrote the entries before the one that the proxy added for it.
  [`198.51.100.1, ${CALLER}:40000, 10.0.0.7:52311`, `${CALLER}:40000`],
  [`198.51.100.1, 10.0.0.9:80, ${CALLER}:40000`, `${CALLER}:40000`],
  ...[
    ...['10.0.0.7:', '10.0.0.7:x', '10.0.0.7:1:1', '10.7:80', '010.0.0.7:80', '0x0a.0.0.7:80'],
    ...['[fd00::7]443', '[fd00::7', '[fd00::7]:x', '11.0.0.7:80', '[fd01::7]:80', 'unknown', ':80'],
    ...['64:ff9b::10.0.0.7', '[64:ff9b::10.0.0.7]:80'], // NAT64 carries no private addresses.
  ].map((entry): [string, string] => [`198.51.100.1, ${entry}`, entry]),
]

describe('a list of trusted proxies', () => {
  it.each(forwardedThrough)(
    'ignores the port of a proxy: "%s" came from the client %s',
    async (forwarded, client) => {
      expect(await callerBehind(PROXIES, '10.0.0.1', forwarded)).toBe(client)
    },
  )

  it.each(accepted)(
    'the list %s is accepted, and trusts %s but not %s',
    async (list, trusted, other) => {
      const { networks, errors } = parseTrustedProxies(list)
      expect(errors).toEqual([])
      expect(await callerBehind(networks, trusted)).toBe(CALLER)
      expect(await callerBehind(networks, other)).toBe(other)
    },
  )

  it.each(rejected)('the list %j is rejected, because %j %s', (list, entry, reason) => {
    const { errors } = parseTrustedProxies(list)
    expect(errors).toEqual([expect.stringContaining(`${JSON.stringify(entry)} `)])
    expect(errors[0]).toContain(reason)
  })

  it('a list of trusted proxies with several invalid entries reports each of them', () => {
    const { errors } = parseTrustedProxies('0.0.0.0/1,10.0.0.1,128.0.0.0/1')
    expect(errors).toEqual(['"0.0.0.0/1" is larger than a /8', '"128.0.0.0/1" is larger than a /8'])
  })

  it.each([
    ['IPv4', range(0, 255, (n) => `${n}.0.0.0/8`)],
    ['IPv4', range(1, 17, (n) => `${n}.0.0.0/8`)],
    ['IPv4', `${range(1, 16, (n) => `${n}.0.0.0/8`)},::ffff:17.0.0.0/104`],
    ['IPv4', `${range(1, 16, (n) => `${n}.0.0.0/8`)},17.0.0.1`],
    ['IPv6', range(1, 17, (n) => `20${n + 10}::/16`)],
  ])('a list of %s networks that are too large together is rejected: %s', (kind, list) => {
    const { errors } = parseTrustedProxies(list)
    expect(errors).toEqual([expect.stringContaining(`the ${kind} networks are together larger`)])
  })

  it('truncates an entry in an error', () => {
    expect(parseTrustedProxies('x'.repeat(9_999)).errors.join().length).toBeLessThan(100)
  })

  const part = fc.constantFrom(...'0123456789abcdef.:/,% x'.split(''), '::ffff:', '0x', '/8', '10.')
  const text = fc.array(part, { maxLength: 20 }).map((parts) => parts.join(''))
  const quad = fc.ipV4().chain((address) => fc.nat(40).map((bits) => `${address}/${bits}`))
  const six = fc.ipV6().chain((address) => fc.nat(140).map((bits) => `${address}/${bits}`))

  it('an accepted list of trusted proxies never fails later, for any text', () => {
    fc.assert(
      fc.property(fc.oneof(text, quad, six), (list) => {
        const { networks, errors } = parseTrustedProxies(list)
        if (errors.length === 0) expect(() => trustsProxy(networks)).not.toThrow()
      }),
      { numRuns: 1_000 },
    )
  })
})
