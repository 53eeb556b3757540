import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/durations.ts'
import { type AgeWindow, HISTORY_MS, MONTH_MS } from './calendar.ts'
import type { ProductKind } from './catalog.ts'
import { bankDecline, fraudDecline } from './payments/cards.ts'
import type { PaymentFlow } from './payments/charge.ts'
import { disputed, disputeWon, fullyRefunded, lastPartlyRefunded } from './payments/post-sale.ts'
import {
  awaiting,
  declined,
  EXPIRY_MS,
  expired,
  neverSent,
  paid,
  secondAttempt,
} from './payments/single-payments.ts'
import { contractAwaiting, contractPaid } from './payments/smart-installments.ts'
import {
  SPLIT_DEADLINE_MS,
  splitAwaiting,
  splitCanceled,
  splitPaid,
} from './payments/split-payments.ts'
import {
  canceledDelinquent,
  DELINQUENCY_MS,
  renewed,
  subscribed,
  TRIAL_MS,
  trial,
  trialConverted,
  trialExpired,
} from './payments/subscriptions.ts'

/** One kind of order history. */
export interface Scenario {
  name: ScenarioName
  /** Number of orders of a round with this scenario. */
  weight: number
  sells: readonly ProductKind[]
  /** The ages at which this state is plausible. */
  age: AgeWindow
  flow: PaymentFlow
  couponChance: number
}

const since = (minMs: number): AgeWindow => ({ minMs, maxMs: HISTORY_MS })
const within = (minMs: number, maxMs: number): AgeWindow => ({ minMs, maxMs })

const home: ProductKind[] = ['digital', 'digital', 'physical']
const all: ProductKind[] = [...home, ...home, ...home, 'export']
const course: ProductKind[] = ['digital']
const plan: ProductKind[] = ['subscription']

const USUAL_COUPONS = 0.12
const ALWAYS = 1
const NEVER = 0

const MINUTE = MINUTE_MS
const PIX_OVER = EXPIRY_MS.PIX
const BOLETO_OVER = EXPIRY_MS.BOLETO
const SPLIT_OVER = SPLIT_DEADLINE_MS + 5 * MINUTE_MS
const RENEWED = MONTH_MS + 2 * HOUR_MS
const DELINQUENT = RENEWED + DELINQUENCY_MS
const TRIED = TRIAL_MS + HOUR_MS

const card = paid('CREDIT_CARD')
const cardWithInterest = paid('CREDIT_CARD', { withInterest: true })
const pix = paid('PIX')
const boleto = paid('BOLETO')

type Row<Name = string> = readonly [
  Name,
  number,
  readonly ProductKind[],
  AgeWindow,
  PaymentFlow,
  number?,
]

// Columns: name, weight, product kinds, ages, payment flow, probability of a coupon.
const rows = [
  ['pix awaiting', 5, home, within(MINUTE, PIX_OVER), awaiting('PIX')],
  ['pix paid', 37, home, since(PIX_OVER), pix],
  ['pix expired', 8, home, since(PIX_OVER), expired('PIX')],
  ['boleto awaiting', 3, home, within(MINUTE, BOLETO_OVER), awaiting('BOLETO')],
  ['boleto paid', 7, home, since(BOLETO_OVER), boleto],
  ['boleto paid with a coupon', 3, home, since(BOLETO_OVER), boleto, ALWAYS],
  ['boleto expired', 4, home, since(BOLETO_OVER), expired('BOLETO')],
  ['card paid', 31, all, since(MINUTE), card],
  ['card paid with interest', 20, all, since(MINUTE), cardWithInterest],
  ['card declined', 7, all, since(5 * MINUTE), declined(bankDecline)],
  ['card declined by anti-fraud', 3, all, since(5 * MINUTE), declined(() => fraudDecline)],
  ['card declined, then pix paid', 3, home, since(HOUR_MS), secondAttempt('DECLINED')],
  ['card never sent, then pix paid', 1, home, since(HOUR_MS), secondAttempt('FAILED')],
  ['never sent', 2, all, since(5 * MINUTE), neverSent],
  ['split paid', 5, home, since(SPLIT_OVER), splitPaid],
  ['split awaiting its last part', 2, home, within(4 * MINUTE, SPLIT_DEADLINE_MS), splitAwaiting],
  ['split canceled', 2, home, since(SPLIT_OVER), splitCanceled],
  ['split refunded', 1, home, since(DAY_MS), fullyRefunded(splitPaid)],
  ['split partly refunded', 1, home, since(DAY_MS), lastPartlyRefunded(splitPaid)],
  ['subscription in its first month', 4, plan, within(MINUTE, MONTH_MS), subscribed],
  ['renewal paid', 10, plan, since(RENEWED), renewed('PAID', 'PAID')],
  ['renewal declined', 3, plan, since(RENEWED), renewed('DECLINED', 'UNPAID')],
  ['renewal declined, order untouched', 1, plan, since(RENEWED), renewed('DECLINED', 'PAID')],
  ['renewal never sent', 2, plan, since(RENEWED), renewed('FAILED', 'PAID')],
  ['subscription canceled', 2, plan, since(DELINQUENT), canceledDelinquent],
  ['trial', 4, plan, within(MINUTE, TRIAL_MS), trial, NEVER],
  ['trial expired', 2, plan, since(TRIED), trialExpired, NEVER],
  ['trial converted', 2, plan, within(TRIED, MONTH_MS), trialConverted, NEVER],
  ['smart installments awaiting', 2, course, within(MINUTE, PIX_OVER), contractAwaiting],
  ['smart installments', 4, course, since(HOUR_MS), contractPaid],
  ['partial refund', 5, all, since(DAY_MS), lastPartlyRefunded(card)],
  ['full refund by pix', 4, home, since(DAY_MS), fullyRefunded(pix)],
  ['full refund by card', 5, all, since(DAY_MS), fullyRefunded(cardWithInterest)],
  ['dispute', 3, all, since(10 * DAY_MS), disputed(card)],
  ['dispute won', 2, all, since(30 * DAY_MS), disputeWon(card)],
] as const satisfies readonly Row[]

export type ScenarioName = (typeof rows)[number][0]

/** All scenarios; the sum of their weights is the length of a round. */
export const scenarios = (rows as readonly Row<ScenarioName>[]).map(
  ([name, weight, sells, age, flow, couponChance = USUAL_COUPONS]): Scenario => ({
    name,
    weight,
    sells,
    age,
    flow,
    couponChance,
  }),
)

const round = scenarios.flatMap((scenario) => Array<Scenario>(scenario.weight).fill(scenario))

/** Number of consecutive orders that contain every scenario as often as its weight. */
export const ROUND_LENGTH = round.length

// Coprime with the length of the round, so that the sequence visits every place.
const STRIDE = 89

/**
 * The scenario of the order at `index`: a fixed permutation instead of a random draw. Any
 * `ROUND_LENGTH` consecutive orders contain all scenarios. The first is a PIX issued minutes ago.
 */
export function scenarioAt(index: number): Scenario {
  return round[(index * STRIDE) % ROUND_LENGTH] as Scenario
}
