import type { SourcePayment } from '../../indexing/projection/source-order.ts'
import { SECOND_MS } from '../../lib/durations.ts'
import {
  type Checkout,
  charge,
  outcomeOf,
  type PaymentFlow,
  quoteFor,
  RESPONSE_MS,
} from './charge.ts'
import { confirmationInstant } from './single-payments.ts'
import { chargeInstants } from './subscriptions.ts'

/** Smart installments (one charge per month) with an unpaid first charge. */
export const contractAwaiting: PaymentFlow = (checkout) => {
  const contract = drawContract(checkout)
  const first = installment(checkout, contract, 'PENDING', 1, checkout.createdAt + SECOND_MS)
  const settledAt = checkout.createdAt + RESPONSE_MS
  return outcomeOf('AWAITING_PAYMENT', [first], { amountTotal: contract.amount, settledAt })
}

/** Smart installments with all due charges paid. */
export const contractPaid: PaymentFlow = (checkout) => {
  const contract = drawContract(checkout)
  const later = chargeInstants(checkout).slice(0, contract.count - 1)
  const instants = [checkout.createdAt + SECOND_MS, ...later]
  const payments = instants.map((at, place) =>
    installment(checkout, contract, 'PAID', place + 1, at),
  )
  const paidAt = confirmationInstant(checkout.random, 'PIX', checkout.createdAt)
  const lastAt = instants.at(-1) ?? checkout.createdAt
  return outcomeOf('PAID', payments, {
    amountTotal: contract.amount,
    paidAt,
    settledAt: Math.max(paidAt, confirmationInstant(checkout.random, 'PIX', lastAt)),
  })
}

/** The terms agreed at checkout. The order total is that of the whole contract, in cents. */
interface Contract {
  amount: number
  discount: number
  count: number
}

function drawContract({ random, cart }: Checkout): Contract {
  return { ...quoteFor(cart, 'PIX'), count: random.pick([6, 12]) }
}

// The first installment includes the remaining cents and the whole discount.
function installment(
  checkout: Checkout,
  contract: Contract,
  status: SourcePayment['status'],
  number: number,
  at: number,
): SourcePayment {
  const share = Math.floor(contract.amount / contract.count)
  const isFirst = number === 1
  const quote = {
    amount: isFirst ? contract.amount - share * (contract.count - 1) : share,
    discount: isFirst ? contract.discount : 0,
  }
  return charge(checkout, { method: 'PIX', status, number, at, quote })
}
