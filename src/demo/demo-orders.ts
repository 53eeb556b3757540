import type { SourceOrder } from '../indexing/projection/source-order.ts'
import { DAY_MS } from '../lib/durations.ts'
import { formatInstant, formatInstantOrNull } from '../lib/instant.ts'
import { type BaseOrder, drawBaseOrder } from './base-order.ts'
import { changedInstant, type OrderSlot } from './calendar.ts'
import { pickProduct } from './catalog.ts'
import { drawAddress } from './checkout/addresses.ts'
import { drawAttribution } from './checkout/attribution.ts'
import { buyer } from './checkout/buyers.ts'
import { type Cart, fillCart } from './checkout/cart.ts'
import { demoOrderId } from './order-ids.ts'
import { drawCard } from './payments/cards.ts'
import type { OrderOutcome } from './payments/charge.ts'
import { createRandom, type Random } from './random.ts'
import type { Scenario } from './scenarios.ts'

/** The orders to generate: the first `count` of a 32-bit seed, as of `until` (epoch ms). */
export interface DemoOptions {
  count: number
  seed: number
  until: number
}

type Amounts = Pick<SourceOrder, 'currency' | 'amount_total' | 'amount_subtotal' | 'amount_in_brl'>

const NO_UPDATED_AT_SHARE = 0.02
const LEGACY_SHARE = 0.25
const LEGACY_AGE_MS = 550 * DAY_MS

/**
 * Generates source orders deterministically, one at a time. An order depends only on the seed, its
 * index and `until`. A smaller `count` yields a prefix, and a later `until` shifts all timestamps
 * equally. The orders are not sorted by time.
 */
export function* demoOrders({ count, seed, until }: DemoOptions): Generator<SourceOrder> {
  for (let index = 0; index < count; index += 1) yield demoOrder({ seed, index, until })
}

/** What a single order of a scenario is made of. `seed`: 32 bits. */
export interface ScenarioOrderOptions {
  scenario: Scenario
  id: string
  ownerAccountId: string
  seed: number
  /** The current time, epoch milliseconds. */
  until: number
}

const STREAM = 200

/** The first version of one order without co-producers, as recent as its scenario allows. */
export function scenarioOrder({ scenario, ...options }: ScenarioOrderOptions): SourceOrder {
  const { id, ownerAccountId, seed, until } = options
  const random = createRandom(seed, STREAM, 0)
  const product = pickProduct(random, scenario.sells)
  const customer = buyer(random)
  const createdAt = until - scenario.age.minMs
  const base = { scenario, product, customer, createdAt, parentId: null, random }
  const { coproducer_account_ids: _, ...order } = composeOrder(base, id, { seed, index: 0, until })
  return {
    ...order,
    version: 1,
    owner_account_id: ownerAccountId,
    changed_at: formatInstant(until),
  }
}

function demoOrder(place: OrderSlot): SourceOrder {
  const base = drawBaseOrder(place)
  const order = composeOrder(base, demoOrderId(place.seed, place.index), place)
  const isLegacy = place.until - base.createdAt > LEGACY_AGE_MS && base.random.chance(LEGACY_SHARE)
  return isLegacy ? asLegacyRecord(order) : order
}

function composeOrder(base: BaseOrder, id: string, place: OrderSlot): SourceOrder {
  const { random, scenario, product, customer, createdAt } = base
  const cart = fillCart(random, product, scenario.couponChance)
  const history = scenario.flow({
    random,
    suffix: id.slice('ord_'.length),
    cart,
    card: drawCard(random),
    createdAt,
    until: place.until,
  })
  const changedAt = changedInstant(place, history.settledAt, random)
  const dollarRate = cart.currency === 'USD' ? random.between(48_000, 61_000) / 10_000 : null

  return {
    id,
    version: history.payments.length + random.between(0, 2),
    owner_account_id: product.account,
    ...(product.coproducers.length > 0 && { coproducer_account_ids: [...product.coproducers] }),
    changed_at: random.chance(NO_UPDATED_AT_SHARE) ? null : formatInstant(changedAt),
    status: history.status,
    ...amountsOf(cart, history, dollarRate),
    created_at: formatInstant(createdAt),
    paid_at: formatInstantOrNull(history.paidAt),
    canceled_at: formatInstantOrNull(history.canceledAt),
    customer,
    shipping_address: drawAddress(random, product.kind, customer.name),
    payments: history.payments,
    items: cart.items,
    offer: cart.offer,
    promocode: cart.promocode,
    ...drawAttribution(random),
    metadata: metadataOf(random, base, dollarRate),
  }
}

// A trial is free, so all amounts of its order are 0, the subtotal included.
function amountsOf(
  { currency, subtotal }: Cart,
  history: OrderOutcome,
  dollarRate: number | null,
): Amounts {
  const { amountTotal } = history
  return {
    currency,
    amount_total: amountTotal,
    amount_subtotal: amountTotal === 0 ? 0 : subtotal,
    amount_in_brl: dollarRate === null ? amountTotal : Math.round(amountTotal * dollarRate),
  }
}

function metadataOf(
  random: Random,
  { parentId }: BaseOrder,
  dollarRate: number | null,
): NonNullable<SourceOrder['metadata']> {
  return {
    ...(parentId !== null && { order_parent_id: parentId }),
    ...(random.chance(0.7) && { origin: random.pick(['checkout', 'link_de_pagamento', 'app']) }),
    ...(dollarRate !== null && { currency_rate: dollarRate }),
  }
}

// Optional fields: the platform does not always record them.
function asLegacyRecord(order: SourceOrder): SourceOrder {
  return {
    ...order,
    currency: null,
    amount_subtotal: null,
    amount_in_brl: null,
    offer: null,
    payments: order.payments.map((payment) => ({ ...payment, installments: null })),
  }
}
