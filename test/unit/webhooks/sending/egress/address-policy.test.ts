import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  classifyAddress,
  everyNetwork,
  parseNetworks,
  permittedAddresses,
} from '../../../../../src/webhooks/sending/egress/address-policy.ts'
import {
  forbiddenIpv4,
  forbiddenIpv6,
} from '../../../../support/webhooks/sending/forbidden-addresses.ts'

const forbidden = [...forbiddenIpv4, ...forbiddenIpv6].flatMap(([name, first, last]) =>
  [...new Set([first, last])].map((address) => [name, address] as const),
)

/** The neighbours of forbidden networks, and addresses of well-known services. */
const reachable = [
  '1.0.0.0',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '203.0.112.255',
  '203.0.114.0',
  '223.255.255.255',
  '8.8.8.8',
  '::ffff:8.8.8.8',
  '::ffff:808:808',
  '2001:200::',
  '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db9::',
  '2003::',
  '2606:4700::1111',
  '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
]

/** Texts that some component reads as an address. */
const notAddresses = [
  '',
  'localhost',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x8.8.8.8',
  '08.8.8.8',
  '8.8.8.8.',
  '８.8.8.8',
  ' 8.8.8.8',
  '8.8.8.8/32',
  '8.8.8.8:443',
  '[2606:4700::1111]',
  '2606:4700::1111%eth0',
  '2606:4700::1111%25eth0',
  '::ffff:8.8.8.8%1',
]

describe('the address policy', () => {
  it.each(forbidden)('the policy forbids %s: %s', (_name, address) => {
    expect(classifyAddress(address, [])).toBe('forbidden')
  })

  it.each(forbiddenIpv4)(
    'the policy forbids %s from %s to %s as IPv4-mapped IPv6',
    (_, ...range) => {
      const classes = range.map((address) => classifyAddress(`::ffff:${address}`, []))
      expect(classes).toEqual(['forbidden', 'forbidden'])
    },
  )

  it.each(reachable)('the policy permits the public address %s', (address) => {
    expect(classifyAddress(address, [])).toBe('public')
  })

  it.each(notAddresses)('the policy forbids %j, which is not a canonical address', (text) => {
    expect(classifyAddress(text, everyNetwork)).toBe('forbidden')
  })

  it('every IPv6 address outside 2000::/3 is forbidden', () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(groups, (parts) => {
        const [first = 0] = parts
        const address = parts.map((part) => part.toString(16)).join(':')
        fc.pre(first < 0x2000 || first > 0x3fff)
        expect(classifyAddress(address, [])).toBe('forbidden')
      }),
    )
  })
})

describe('the addresses of a name', () => {
  const { networks } = parseNetworks('127.0.0.1,10.0.0.0/8')

  it.each([
    ['https on a public port', true, ['8.8.8.8', '2606:4700::1'], ['8.8.8.8', '2606:4700::1']],
    ['https on a public port', true, ['8.8.8.8', '192.168.0.1'], []],
    ['https on a public port', true, ['::1', '8.8.8.8'], []],
    ['https on a public port', true, ['::1', '127.0.0.1', '10.0.0.1'], ['127.0.0.1', '10.0.0.1']],
    ['https on a public port', true, ['8.8.8.8', '127.0.0.1'], ['127.0.0.1']],
    ['https on a public port', true, [], []],
    ['another target', false, ['8.8.8.8'], []],
    ['another target', false, ['8.8.8.8', '127.0.0.1'], ['127.0.0.1']],
    ['another target', false, ['::1'], []],
  ])('for %s (%s), %j permits %j', (_, isPublicTarget, addresses, permitted) => {
    expect(permittedAddresses(addresses, networks, { isPublicTarget })).toEqual(permitted)
  })
})

describe('the networks of WEBHOOK_ALLOW', () => {
  it.each([
    ['127.0.0.0/8', '127.1.2.3', '128.0.0.0'],
    ['127.0.0.1', '127.0.0.1', '127.0.0.2'],
    ['10.1.2.3/8', '10.255.255.255', '11.0.0.0'],
    ['::1', '::1', '::2'],
    ['fd00::/8', 'fdff::1', 'fc00::1'],
    [' 10.0.0.1 ,\t192.168.0.0/16 ', '192.168.7.7', '10.0.0.2'],
    ['127.0.0.0/8', '::ffff:127.0.0.1', '::ffff:10.0.0.1'],
    ['::ffff:127.0.0.0/104', '127.0.0.1', '10.0.0.1'],
    ['0.0.0.0/0', '10.0.0.1', '::1'],
    ['::/0', '::1', '10.0.0.1'],
    ['168.63.129.16', '168.63.129.16', '169.254.169.254'],
  ])('the list %s makes %s a development address, and not %s', (list, inside, outside) => {
    const { networks, errors } = parseNetworks(list)
    expect(errors).toEqual([])
    expect(classifyAddress(inside, networks)).toBe('development')
    expect(classifyAddress(outside, networks)).not.toBe('development')
  })

  it('every network together make each address a development address', () => {
    const addresses = ['10.0.0.1', '8.8.8.8', '::1', 'fe80::1', '::ffff:10.0.0.1']
    const classes = addresses.map((address) => classifyAddress(address, everyNetwork))
    expect(new Set(classes)).toEqual(new Set(['development']))
  })

  it.each([
    ['localhost', 'is not a complete address'],
    ['127.1', 'is not a complete address'],
    ['0x7f.0.0.1', 'is not a complete address'],
    ['127.0.0.1:80', 'is not a complete address'],
    ['[::1]', 'is not a complete address'],
    ['fe80::1%eth0', 'is not a complete address'],
    ['10.0.0.0/33', 'has a prefix that is not a decimal number up to 32'],
    ['10.0.0.0/255.0.0.0', 'has a prefix that is not a decimal number up to 32'],
    ['::1/129', 'has a prefix that is not a decimal number up to 128'],
  ])('the entry %s is rejected, because it %s', (entry, reason) => {
    const { networks, errors } = parseNetworks(`10.0.0.1,${entry}`)
    expect(networks).toHaveLength(1)
    expect(errors).toEqual([`${JSON.stringify(entry)} ${reason}`])
  })
})
