import { cell, fenced, table } from './cells.ts'
import type { Description, Response, Webhook } from './document.ts'
import { parameterRow } from './operations.ts'

/** Types whose examples the Markdown shows; the description has one of every type. */
const SHOWN = ['order.paid', 'order.payment_declined', 'order.removed', 'webhook.test']

/** Renders the webhooks: all types, their common headers and responses, and some whole examples. */
export function webhooksChapter({ webhooks }: Description): string {
  const all = Object.entries(webhooks).map(([type, { post }]) => ({ type, ...post }))
  const [first] = all
  if (first === undefined) throw new Error('the description has no webhooks')
  const rows = all.map(({ type, description }) => [`\`${type}\``, cell(description)])
  return [
    '## POST no seu endereço',
    'Cada evento é uma requisição ao endereço do endpoint. O corpo é um [WebhookEvent](#esquema-webhookevent).',
    table(['tipo', 'o que anuncia'], rows),
    '**Cabeçalhos**',
    table(['nome', 'onde', 'tipo', 'o que diz'], first.parameters.map(parameterRow)),
    '**O que a sua resposta significa**',
    table(['resposta', 'efeito'], answerRows(first)),
    ...all.filter(({ type }) => SHOWN.includes(type)).flatMap(examplesOf),
  ].join('\n\n')
}

function answerRows(webhook: Webhook): string[][] {
  return responsesOf(webhook).map(([status, { description, headers = {} }]) => {
    const texts = Object.entries(headers).map(
      ([name, header]) => `\`${name}\`: ${header.description}`,
    )
    return [status, cell([description, ...texts].join('\n'))]
  })
}

/**
 * The responses of a receiver, with `outra` for `default`. `2XX` is before `410`: in an object,
 * keys that look like numbers precede all others.
 */
export function responsesOf({ responses }: Webhook): [status: string, response: Response][] {
  return Object.entries(responses)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([status, response]) => [status === 'default' ? 'outra' : status, response])
}

function examplesOf({ requestBody }: Webhook): string[] {
  const { examples } = requestBody.content['application/json']
  return Object.values(examples).flatMap(({ summary, value }) => [
    `**Exemplo: ${summary}**`,
    fenced(value),
  ])
}
