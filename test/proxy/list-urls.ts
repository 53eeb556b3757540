import fc from 'fast-check'
import { HOUR_MS } from '../../src/lib/durations.ts'
import type { CursorCodec, Listing } from '../../src/orders/cursor.ts'
import type { InstantRange } from '../../src/orders/filters/filters.ts'
import { listings, pagerStates } from '../support/orders/arbitraries.ts'

type Parameter = [name: string, value: string]

/** Writes each character plain or escaped, in either case, as RFC 3986 allows. */
const encoded = (text: string, choices: readonly number[]) =>
  [...text]
    .map((character, index) => {
      const choice = choices[index % choices.length] ?? 0
      const plain = choice < 2 ? encodeURIComponent(character) : character
      // Unescaped: unreserved characters and those without a meaning in a query.
      if (choice !== 3 && /^[A-Za-z0-9_.~,:;@/?!$'()*-]$/.test(plain)) return plain
      const hex = [...Buffer.from(character)].map(
        (byte) => `%${byte.toString(16).padStart(2, '0')}`,
      )
      return choice === 1 ? hex.join('') : hex.join('').toUpperCase()
    })
    .join('')

/** An instant as clients write it: in UTC or a zone, with or without fractions. */
function instantText(ms: number, form: number): string {
  const inZone = (hours: number) => new Date(ms + hours * HOUR_MS).toISOString().slice(0, -1)
  const forms = [`${inZone(0)}Z`, `${inZone(0)}+00:00`, `${inZone(-3)}-03:00`, `${inZone(5)}+05:00`]
  const written = forms[form % forms.length] ?? ''
  // A year in the zone may have five digits.
  return /^\d{4}-/.test(written) ? written : `${inZone(0)}Z`
}

const boundsOf = (name: string, { gte, lt }: InstantRange, form: number): Parameter[] => [
  ...(gte === undefined ? [] : [[`${name}_gte`, instantText(gte, form)] as Parameter]),
  ...(lt === undefined ? [] : [[`${name}_lt`, instantText(lt, form + 1)] as Parameter]),
]

/** A list as one comma-separated parameter or as repeated parameters. */
function listOf(name: string, values: readonly string[], isRepeated: boolean): Parameter[] {
  if (values.length === 0) return []
  return isRepeated ? values.map((value) => [name, value]) : [[name, values.join(',')]]
}

// Parameters that clients add: their own, and unfilled templates.
const unknownParameters = fc.array(
  fc.tuple(
    fc.constantFrom('utm_source', '_', 'page', 'q', 'callback', 'file', 'next', 'total[]'),
    fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom(
        '$' + '{cursor}',
        '$' + '{date:-now}',
        '{{cursor}}',
        '100%',
        '../page',
        'a..b',
      ),
      fc.webUrl(),
      fc.base64String({ maxLength: 40 }),
    ),
  ),
  { maxLength: 3 },
)

/** Valid listing URLs of this account, with cursors of the codec. */
export const listUrls = (accountId: string, codec: CursorCodec): fc.Arbitrary<string> =>
  fc
    .record({
      listing: listings.map((listing): Listing => ({ ...listing, accountId })),
      state: fc.option(pagerStates),
      limit: fc.option(fc.integer({ min: 1, max: 100 })),
      isRepeated: fc.boolean(),
      form: fc.nat(3),
      order: fc.infiniteStream(fc.nat()).map((stream) => [...stream.take(24)]),
      choices: fc.array(fc.nat(3), { minLength: 1, maxLength: 40 }),
      unknown: unknownParameters,
    })
    .map(({ listing, state, limit, isRepeated, form, order, choices, unknown }) => {
      const { filters, sort } = listing
      const parameters: Parameter[] = [
        ...listOf('status', filters.statuses, isRepeated),
        ...listOf('payment_method', filters.paymentMethods, isRepeated),
        ...boundsOf('created', filters.created, form),
        ...boundsOf('updated', filters.updated, form),
        ...(filters.updated.orNull ? [['include_undated', 'true'] as Parameter] : []),
        ...boundsOf('paid', filters.paid, form),
        ...listOf('product_id', filters.productIds, isRepeated),
        ...listOf('customer_email', filters.customerEmails, isRepeated),
        ...listOf('customer_document', filters.customerDocuments, isRepeated),
        ['sort', sort],
        ...(state === null ? [] : [['cursor', codec.seal(listing, state)] as Parameter]),
        ...(limit === null ? [] : [['limit', `${limit}`] as Parameter]),
        ...unknown,
      ]
      const query = parameters
        .map((parameter, index) => ({ parameter, place: order[index] ?? 0 }))
        .sort((a, b) => a.place - b.place)
        .map(({ parameter }) => parameter.map((text) => encoded(text, choices)).join('='))
      return `/v1/orders?${query.join('&')}`
    })
