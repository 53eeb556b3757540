import {
  scenarios as demoScenarios,
  type Scenario,
  type ScenarioName,
} from '../../demo/scenarios.ts'

/** A kind of order that a sandbox starts with. */
export interface SandboxScenario {
  id: string
  /** In Portuguese, for the integrator. */
  description: string
  demo: Scenario
}

// Columns: id, name of the scenario of the demo, description. Reserved statuses, and orders that
// the API does not show, are left out.
const rows: [string, ScenarioName, string][] = [
  ['pix_awaiting', 'pix awaiting', 'PIX emitido, à espera do pagamento'],
  ['pix_paid', 'pix paid', 'PIX pago'],
  ['pix_expired', 'pix expired', 'PIX expirado sem pagamento'],
  ['boleto_awaiting', 'boleto awaiting', 'Boleto emitido, à espera do pagamento'],
  ['boleto_paid', 'boleto paid', 'Boleto pago'],
  ['boleto_expired', 'boleto expired', 'Boleto vencido sem pagamento'],
  ['card_paid', 'card paid', 'Cartão aprovado'],
  ['card_paid_with_interest', 'card paid with interest', 'Cartão aprovado, parcelado com juros'],
  ['card_declined', 'card declined', 'Cartão recusado pelo banco'],
  [
    'card_declined_by_fraud_check',
    'card declined by anti-fraud',
    'Cartão recusado pelo antifraude',
  ],
  ['split_awaiting', 'split awaiting its last part', 'Pagamento dividido, falta a última parte'],
  ['split_paid', 'split paid', 'Pagamento dividido, todas as partes pagas'],
  ['split_canceled', 'split canceled', 'Pagamento dividido cancelado, partes devolvidas'],
  ['subscription', 'subscription in its first month', 'Assinatura no primeiro mês'],
  ['renewal_paid', 'renewal paid', 'Assinatura com uma renovação paga'],
  ['renewal_declined', 'renewal declined', 'Assinatura com a renovação recusada'],
  ['subscription_canceled', 'subscription canceled', 'Assinatura cancelada por falta de pagamento'],
  ['trial', 'trial', 'Assinatura em período grátis'],
  ['smart_installments', 'smart installments awaiting', 'Parcelamento mensal, primeira parcela'],
  ['partial_refund', 'partial refund', 'Reembolso parcial'],
  ['refund', 'full refund by pix', 'Reembolso total'],
  ['dispute', 'dispute', 'Contestação (chargeback) aberta'],
  ['dispute_won', 'dispute won', 'Contestação ganha pelo vendedor'],
]

/** All scenarios of the sandbox. */
export const sandboxScenarios = rows.map(([id, name, description]): SandboxScenario => {
  const demo = demoScenarios.find((scenario) => scenario.name === name) as Scenario
  return { id, description, demo }
})

/** A scenario, as the API returns it and the command prints it as JSON. */
export function scenarioJson({ id, description }: SandboxScenario) {
  return { object: 'sandbox_scenario', id, description } as const
}
