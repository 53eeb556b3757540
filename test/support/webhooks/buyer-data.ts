import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import { sourceOrder } from '../orders/source-order.ts'

/** Is in each text of a buyer, and in no other text of a store, a log or a webhook. */
export const BUYER = 'private-of-the-buyer'
/** Has digits only, so it cannot contain {@link BUYER}. */
export const BUYER_DOCUMENT = '52998224725'

/** Data that the views of co-producers lack. */
export const SELLER_ONLY = 'private-of-the-seller'

/**
 * The first version of `ord_1` of `acc_1`, whose co-producer is `acc_2`, with all data of a buyer.
 */
export function orderWithBuyerData(overrides: Partial<SourceOrder> = {}): SourceOrder {
  const text = (name: string) => `${BUYER} ${name}`
  return sourceOrder({
    coproducer_account_ids: ['acc_2'],
    customer: {
      name: text('name'),
      email: `${BUYER}@exemplo.com.br`,
      phone: text('phone'),
      document: BUYER_DOCUMENT,
    },
    shipping_address: {
      line1: text('line1'),
      line2: text('line2'),
      line3: text('line3'),
      neighborhood: text('neighborhood'),
      city: text('city'),
      state: text('state'),
      country: text('country'),
      postal_code: text('postal code'),
      full_name: text('full name'),
    },
    tracking: { [`${SELLER_ONLY} key`]: `${SELLER_ONLY} ${text('tracking')}` },
    navigator: {
      user_agent: `${SELLER_ONLY} ${text('agent')}`,
      referer: `https://exemplo.com.br/${SELLER_ONLY}/${BUYER}`,
    },
    ...overrides,
  })
}

/** The change that erases an order of `acc_1`. */
export function erasure({ id, version }: Pick<SourceOrder, 'id' | 'version'>): object {
  return { id, version, owner_account_id: 'acc_1', deleted: true }
}
