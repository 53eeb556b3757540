import type { SourcePayment } from '../../indexing/projection/source-order.ts'
import type { Random } from '../random.ts'

type Card = NonNullable<SourcePayment['card']>

/** Why a charge was declined, in the text shown to the buyer. */
export interface Decline {
  code: string
  message: string
}

const weightedBrands = [
  { brand: 'VISA', weight: 34 },
  { brand: 'MASTERCARD', weight: 34 },
  { brand: 'ELO', weight: 12 },
  { brand: 'HIPERCARD', weight: 5 },
  { brand: 'AMERICAN_EXPRESS', weight: 5 },
  { brand: 'DINERS_CLUB_INTERNATIONAL', weight: 2 },
  { brand: 'JCB', weight: 2 },
  { brand: 'BANESCARD', weight: 3 },
  { brand: null, weight: 3 },
]
const brands = weightedBrands.flatMap(({ brand, weight }) =>
  Array<typeof brand>(weight).fill(brand),
)

const bankDeclines: readonly Decline[] = [
  { code: 'AB-0051', message: 'Saldo insuficiente' },
  { code: 'AB-0005', message: 'Compra não autorizada. Fale com o banco emissor do cartão' },
  { code: 'AB-0054', message: 'Cartão vencido' },
  { code: 'AB-0014', message: 'Número do cartão inválido. Confira os dados e tente de novo' },
  { code: 'AB-0057', message: 'Transação não permitida para este cartão' },
]

/** The decline by the fraud check of the platform. */
export const fraudDecline: Decline = {
  code: 'AB-0059',
  message: 'Compra não aprovada na análise de segurança. Tente outro meio de pagamento',
}

/** The decline of a charge that never reached the bank, which the API omits. */
export const communicationFailure: Decline = {
  code: 'AB-0001',
  message: 'Falha de comunicação. Tente novamente',
}

/** Draws a decline reason of a bank. */
export function bankDecline(random: Random): Decline {
  return random.pick(bankDeclines)
}

/** Draws a card. Some brands are not in the API's list, and some are missing. */
export function drawCard(random: Random): Card {
  return { brand: random.pick(brands), last4: random.digits(4) }
}
