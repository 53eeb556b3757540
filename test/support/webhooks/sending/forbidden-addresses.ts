/** The name of each forbidden IPv4 network, with its first and last address. */
export const forbiddenIpv4: [name: string, first: string, last: string][] = [
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private', '10.0.0.0', '10.255.255.255'],
  ['carrier-grade NAT', '100.64.0.0', '100.127.255.255'],
  ['metadata of Alibaba Cloud', '100.100.100.200', '100.100.100.200'],
  ['loopback', '127.0.0.0', '127.255.255.255'],
  ['platform service of Azure', '168.63.129.16', '168.63.129.16'],
  ['link-local', '169.254.0.0', '169.254.255.255'],
  ['metadata of most clouds', '169.254.169.254', '169.254.169.254'],
  ['private', '172.16.0.0', '172.31.255.255'],
  ['protocol assignments', '192.0.0.0', '192.0.0.255'],
  ['metadata of Oracle Cloud', '192.0.0.192', '192.0.0.192'],
  ['documentation', '192.0.2.0', '192.0.2.255'],
  ['AS112', '192.31.196.0', '192.31.196.255'],
  ['multicast tunneling', '192.52.193.0', '192.52.193.255'],
  ['6to4 relays', '192.88.99.0', '192.88.99.255'],
  ['private', '192.168.0.0', '192.168.255.255'],
  ['AS112', '192.175.48.0', '192.175.48.255'],
  ['benchmarks', '198.18.0.0', '198.19.255.255'],
  ['documentation', '198.51.100.0', '198.51.100.255'],
  ['documentation', '203.0.113.0', '203.0.113.255'],
  ['multicast', '224.0.0.0', '239.255.255.255'],
  ['reserved', '240.0.0.0', '255.255.255.254'],
  ['broadcast', '255.255.255.255', '255.255.255.255'],
]

/** The name of each forbidden IPv6 network, with its first and last address. */
export const forbiddenIpv6: [name: string, first: string, last: string][] = [
  ['unspecified', '::', '::'],
  ['loopback', '::1', '::1'],
  ['IPv4-compatible', '::2', '::ffff:ffff'],
  ['IPv4-compatible loopback', '::7f00:1', '::7f00:1'],
  ['outside 2000::/3', '1::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['translated', '::ffff:0:0:0', '::ffff:0:ffff:ffff'],
  ['NAT64', '64:ff9b::', '64:ff9b::ffff:ffff'],
  ['local NAT64', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['discard', '100::', '100::ffff:ffff:ffff:ffff'],
  ['Teredo', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['benchmarks', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['multicast tunneling', '2001:3::', '2001:3:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['AS112', '2001:4:112::', '2001:4:112:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHID', '2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ORCHIDv2', '2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['drone identifiers', '2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['protocol assignments', '2001:1ff::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['AS112', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['outside 2000::/3', '4000::', 'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['segment routing', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['unique local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['metadata of AWS', 'fd00:ec2::254', 'fd00:ec2::254'],
  ['metadata of Google Cloud', 'fd20:ce::254', 'fd20:ce::254'],
  ['metadata of OpenStack', 'fe80::a9fe:a9fe', 'fe80::a9fe:a9fe'],
  ['link-local', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
]

const hex = (value: number, digits = 0) => value.toString(16).padStart(digits, '0')

/** Every way to write an IPv4 address as the host of a URL, with the name of the spelling. */
export function spellings(address: string): [name: string, host: string][] {
  const octets = address.split('.').map(Number)
  const [a = 0, b = 0, c = 0, d = 0] = octets
  const number = ((a * 256 + b) * 256 + c) * 256 + d
  const high = hex(a * 256 + b)
  const low = hex(c * 256 + d)
  const octal = octets.map((octet) => `0${octet.toString(8)}`)
  return [
    ['dotted decimal', address],
    ['trailing dot', `${address}.`],
    ['one decimal number', `${number}`],
    ['one hexadecimal number', `0x${hex(number)}`],
    ['one upper-case hexadecimal number', `0X${hex(number).toUpperCase()}`],
    ['one octal number', `0${number.toString(8)}`],
    ['hexadecimal octets', octets.map((octet) => `0x${hex(octet, 2)}`).join('.')],
    ['octal octets', octal.join('.')],
    ['octal octets with zeros', octal.map((octet) => `000${octet}`).join('.')],
    ['mixed octets', `0x${hex(a)}.${b}.0${c.toString(8)}.${d}`],
    ['two parts', `${a}.${number % 2 ** 24}`],
    ['three parts', `${a}.${b}.${c * 256 + d}`],
    ['two hexadecimal parts with a trailing dot', `0x${hex(a)}.0x${hex(number % 2 ** 24)}.`],
    ['percent-encoded', percentEncoded(address)],
    ['percent-encoded number', percentEncoded(`${number}`)],
    ['full-width', fullWidth(address)],
    ['full-width digits and ideographic full stops', fullWidth(address).replaceAll('．', '。')],
    ['circled digits', address.replace(/[1-9]/g, (digit) => '①②③④⑤⑥⑦⑧⑨'.charAt(Number(digit) - 1))],
    ['soft hyphen', address.replace('.', '\u00AD.')],
    ['mapped', `[::ffff:${address}]`],
    ['mapped in upper case', `[::FFFF:${address}]`],
    ['mapped in hexadecimal', `[::ffff:${high}:${low}]`],
    ['mapped without compression', `[0:0:0:0:0:ffff:${high}:${low}]`],
    ['mapped with zeros', `[0000:0000:0000:0000:0000:ffff:${address}]`],
    ['compatible', `[::${address}]`],
    ['compatible in hexadecimal', `[::${high}:${low}]`],
    ['translated', `[::ffff:0:${address}]`],
    ['6to4', `[2002:${high}:${low}::1]`],
    ['Teredo server', `[2001:0:${high}:${low}::]`],
    ['Teredo client', `[2001::${hex(0xffff - (a * 256 + b))}:${hex(0xffff - (c * 256 + d))}]`],
    ['NAT64', `[64:ff9b::${address}]`],
    ['local NAT64', `[64:ff9b:1::${address}]`],
  ]
}

function percentEncoded(text: string): string {
  return [...text].map((character) => `%${hex(character.charCodeAt(0), 2)}`).join('')
}

function fullWidth(text: string): string {
  return text.replace(/[0-9.]/g, (character) =>
    String.fromCharCode(character.charCodeAt(0) + 0xfee0),
  )
}
