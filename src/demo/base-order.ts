import type { SourceOrder } from '../indexing/projection/source-order.ts'
import { MINUTE_MS } from '../lib/durations.ts'
import { createdInstant, isOfAge, type OrderSlot } from './calendar.ts'
import { type Product, pickProduct } from './catalog.ts'
import { buyer } from './checkout/buyers.ts'
import { demoOrderId } from './order-ids.ts'
import { createRandom, type Random } from './random.ts'
import { type Scenario, scenarioAt } from './scenarios.ts'

/** Customer, product and creation time of an order, before its payments. */
export interface BaseOrder {
  scenario: Scenario
  product: Product
  customer: SourceOrder['customer']
  createdAt: number
  /** The order of which this one is an upsell. */
  parentId: string | null
  /** The generator for the rest of the order. */
  random: Random
}

const STREAM = 100
const UPSELL_EVERY = 7
const UPSELL_OFFSET = 3

/** Draws the order at `place`. Every seventh is an upsell of its predecessor. */
export function drawBaseOrder(place: OrderSlot): BaseOrder {
  const own = drawOwnBaseOrder(place)
  return place.index % UPSELL_EVERY === UPSELL_OFFSET ? asUpsell(own, place) : own
}

// Draws the predecessor again instead of storing it: it depends on its index alone, and is never an
// upsell itself.
function asUpsell(own: BaseOrder, place: OrderSlot): BaseOrder {
  const parentPlace = { ...place, index: place.index - 1 }
  const parent = drawOwnBaseOrder(parentPlace)
  const createdAt = parent.createdAt + own.random.between(MINUTE_MS, 5 * MINUTE_MS)
  const fits =
    own.product.account === parent.product.account &&
    isOfAge(own.scenario.age, createdAt, place.until)
  if (!fits) return own
  const parentId = demoOrderId(parentPlace.seed, parentPlace.index)
  return { ...own, customer: parent.customer, createdAt, parentId }
}

function drawOwnBaseOrder(place: OrderSlot): BaseOrder {
  const random = createRandom(place.seed, STREAM, place.index)
  const scenario = scenarioAt(place.index)
  return {
    scenario,
    product: pickProduct(random, scenario.sells),
    customer: buyer(random),
    createdAt: createdInstant(place, scenario.age, random),
    parentId: null,
    random,
  }
}
