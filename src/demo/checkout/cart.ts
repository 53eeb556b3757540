import type { SourceItem, SourceOrder } from '../../indexing/projection/source-order.ts'
import { type OrderBump, orderBumps, type Product } from '../catalog.ts'
import type { Random } from '../random.ts'

type Offer = NonNullable<SourceOrder['offer']>
type Promocode = NonNullable<SourceOrder['promocode']>

/** The cart at checkout; all amounts in cents of `currency`. */
export interface Cart {
  items: SourceItem[]
  offer: Offer
  promocode: Promocode | null
  currency: 'BRL' | 'USD'
  /** Sum of price times quantity. */
  subtotal: number
  /** Coupon and quantity discount together, positive. */
  discount: number
  /** Additional discount for PIX, positive. */
  pixDiscount: number
}

interface Coupon {
  code: string
  description?: string | null
  percent: number
}

const coupons: readonly Coupon[] = [
  { code: 'MARCO10', percent: 10 },
  { code: 'BEMVINDO', description: 'Primeira compra', percent: 15 },
  { code: 'VOLTE20', description: 'Sentimos sua falta', percent: 20 },
  { code: 'AMIGA5', description: null, percent: 5 },
]

const PIX_PERCENT = 5
const QUANTITY_PERCENT = 10
const QUANTITY_FOR_DISCOUNT = 3

/** Draws a cart with the product, and sometimes an order bump and a coupon. */
export function fillCart(random: Random, product: Product, couponChance: number): Cart {
  const price = random.pick(product.prices)
  const offer = offerAt(product, price)
  const quantity = drawQuantity(random, product)
  const items = [productItem(product, offer, price, quantity)]
  const bumps: readonly OrderBump[] = orderBumps[product.kind]
  if (bumps.length > 0 && random.chance(0.3)) items.push(bumpItem(random.pick(bumps)))

  const subtotal = items.reduce((sum, item) => sum + item.unit_price * item.quantity, 0)
  const hasCoupon = random.chance(couponChance)
  const promocode = hasCoupon ? applyCoupon(random.pick(coupons), subtotal) : null
  const quantityPercent = quantity >= QUANTITY_FOR_DISCOUNT ? QUANTITY_PERCENT : 0
  return {
    items,
    offer,
    promocode,
    currency: product.kind === 'export' ? 'USD' : 'BRL',
    subtotal,
    discount: percentOf(subtotal, quantityPercent) - (promocode?.amount ?? 0),
    pixDiscount: random.chance(0.25) ? percentOf(subtotal, PIX_PERCENT) : 0,
  }
}

function offerAt({ slug, kind, prices }: Product, price: number): Offer {
  const main = kind === 'subscription' ? 'Plano mensal' : 'Oferta principal'
  return price === prices[0]
    ? { id: `prod_offer_${slug}_principal`, name: main }
    : { id: `prod_offer_${slug}_lancamento`, name: `${main}: lançamento` }
}

function drawQuantity(random: Random, product: Product): number {
  if (product.kind !== 'physical') return 1
  return random.chance(0.6) ? 1 : random.between(2, 4)
}

function productItem(product: Product, offer: Offer, price: number, quantity: number): SourceItem {
  return {
    product_id: `prod_${product.slug}`,
    name: product.name,
    quantity,
    unit_price: price,
    offer_id: offer.id,
    ...(product.kind === 'subscription' && { plan_id: `prod_offer_plan_${product.slug}_mensal` }),
  }
}

function bumpItem(bump: OrderBump): SourceItem {
  return {
    product_id: `prod_${bump.slug}`,
    name: bump.name,
    quantity: 1,
    unit_price: bump.price,
    order_bump_id: `ob_${bump.slug}`,
  }
}

function applyCoupon({ percent, ...coupon }: Coupon, subtotal: number): Promocode {
  return { ...coupon, amount: -percentOf(subtotal, percent) }
}

function percentOf(amount: number, percent: number): number {
  return Math.round((amount * percent) / 100)
}
