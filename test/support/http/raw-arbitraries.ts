import fc from 'fast-check'
import { listParamNames } from '../../../src/orders/list-params.ts'
import { orderStatuses, paymentMethods } from '../../../src/orders/order-values.ts'

const bytesOf = (text: string) => Buffer.from(text, 'latin1')
const joined = (parts: fc.Arbitrary<Buffer>, maxLength: number) =>
  fc.array(parts, { maxLength, size: 'max' }).map((all) => Buffer.concat(all))

/** Any byte, including those that end a line or a request. */
const anyByte = fc.integer({ min: 0, max: 255 }).map((byte) => Buffer.from([byte]))
/** A byte that is allowed in the target of a request: no `#`. */
const urlByte = fc
  .integer({ min: 0x21, max: 0x7e })
  .filter((byte) => byte !== 0x23)
  .map((byte) => Buffer.from([byte]))
const percentByte = fc
  .integer({ min: 0, max: 255 })
  .map((byte) => bytesOf(`%${byte.toString(16).padStart(2, '0')}`))

/** Fragments that are difficult for parsers of query strings. */
const oddities = fc
  .constantFrom(
    ...['%', '%%', '%z', '%zz', '%0', '%u0041', '%00', '%0d%0a', '%20', '+', '%2B', '%25', '%2525'],
    ...['%ff', '%C0%80', '%ED%A0%80', '%ED%BF%BF', '%F4%90%80%80', '%F0%9F%98%80', '%EF%BB%BF'],
    ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', 'then'],
    ...['[', ']', '[]', '[0]', '[__proto__]', '.', '&', '&&', '=', '==', ';', '?', ',', ',,'],
    ...['null', 'undefined', 'NaN', '-1', '1e309', '9007199254740993', '0x10', 'true', '{}', "'"],
    ...['9999-12-31T23:59:59.999Z', '0000-01-01T00:00:00Z', '2026-02-30T00:00:00Z', '-03:00'],
    ...[
      '$%7Bjndi:ldap://x%7D',
      '../../',
      '<script>',
      "'%20OR%201=1",
      '{"$gt":""}',
      'a'.repeat(600),
    ],
  )
  .map(bytesOf)
const known = fc
  .constantFrom(...listParamNames, ...orderStatuses, ...paymentMethods, 'updated_at_asc', '20')
  .map(bytesOf)

/** The part of a target after `?`, of bytes that the HTTP parser accepts. */
export const rawQueries = joined(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(known, known).map(([name, value]) => bytesOf(`&${name}=${value}`)),
    },
    {
      weight: 4,
      arbitrary: fc.tuple(known, oddities).map(([name, odd]) => bytesOf(`&${name}=${odd}`)),
    },
    { weight: 2, arbitrary: oddities },
    { weight: 1, arbitrary: percentByte },
    { weight: 1, arbitrary: urlByte },
  ),
  40,
)

/** Any bytes. */
export const anyBytes = (maxLength: number) =>
  joined(fc.oneof(anyByte, urlByte, oddities), maxLength)

const headerNames = fc.constantFrom(
  ...[
    'Accept',
    'Accept-Encoding',
    'Authorization',
    'Connection',
    'Content-Encoding',
    'Content-Length',
  ],
  ...['Content-Type', 'Cookie', 'Expect', 'Forwarded', 'Host', 'HTTP2-Settings', 'If-None-Match'],
  ...[
    'Keep-Alive',
    'Origin',
    'Prefer',
    'Range',
    'Request-Id',
    'TE',
    'traceparent',
    'tracestate',
    'Trailer',
  ],
  ...[
    'Transfer-Encoding',
    'Upgrade',
    'User-Agent',
    'Via',
    'X-Forwarded-For',
    'X-HTTP-Method-Override',
  ],
  ...['__proto__', 'constructor', 'toString', 'x'.repeat(300)],
)
const headerValues = fc.oneof(
  fc
    .constantFrom(
      ...[
        '',
        ' ',
        '\t',
        'close',
        'keep-alive, Upgrade',
        'chunked',
        'identity',
        '*',
        'handling=strict',
        'gzip, chunked',
        '-1',
        '0',
      ],
      ...[
        '99999999999999999999',
        '100-continue',
        'bytes=0-',
        'a\r\n b',
        'a\r\n\tb',
        '::1',
        '[::1]:80',
      ],
      ...['1.2.3.4, garbage', '999.999.999.999', '%00', 'for="[::1]"', 'DELETE', 'x'.repeat(9_000)],
      ...[
        '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
        'application/json',
        '*/*;q=zz',
      ],
    )
    .map(bytesOf),
  anyBytes(20),
)
const headerLine = fc
  .tuple(fc.oneof({ weight: 9, arbitrary: headerNames.map(bytesOf) }, anyBytes(6)), headerValues)
  .map(([name, value]) => Buffer.concat([name, bytesOf(': '), value, bytesOf('\r\n')]))

/** Up to eight header lines, complete or not. */
export const rawHeaders = joined(headerLine, 8)
