import { InvalidParamError } from '../../../src/lib/errors/invalid-param-error.ts'
import type { NamedSecret } from '../../../src/lib/secrets/named-secret.ts'
import type { Listing, PagerState } from '../../../src/orders/cursor.ts'
import { type CursorCodec, createCursorCodec } from '../../../src/orders/cursor.ts'
import { noFilters } from '../../../src/orders/filters/filters.ts'

export const secretOf = (kid: string): NamedSecret => ({
  kid,
  secret: Buffer.from(`${kid}: thirty-two bytes and some more`),
})

export const codec: CursorCodec = createCursorCodec([secretOf('k1')])

export const listing = (changes: Partial<Listing> = {}): Listing => ({
  accountId: 'acc_1',
  sort: 'updated_at_asc',
  filters: noFilters,
  ...changes,
})

const at = (key: number, id: string) => ({ key, id })

export const states: Record<'fresh' | 'dated' | 'full', PagerState> = {
  fresh: { after: null, dated: null, mark: null, nextMark: null },
  dated: { after: at(1_772_366_400_000, 'ord_9'), dated: null, mark: null, nextMark: null },
  full: {
    after: at(8_640_000_000_000_000, 'ord_zzzzzzzzzzzzzzzz'),
    dated: at(1_772_366_700_123, 'ord_0'),
    mark: at(1_772_366_700_124, 'ord_Q-_q'),
    nextMark: at(1_772_366_700_999, 'ord_7'),
  },
}

/** Whether the codec rejects the cursor as an invalid parameter `cursor`. */
export function isRejected(opener: CursorCodec, cursor: string, of = listing()): boolean {
  try {
    opener.open(of, cursor)
    return false
  } catch (error) {
    if (!(error instanceof InvalidParamError)) throw error
    return error.param === 'cursor'
  }
}
