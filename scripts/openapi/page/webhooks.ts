import type { Webhook } from '../markdown/document.ts'
import { responsesOf } from '../markdown/webhooks.ts'
import { definitions, renderMarkdown } from './html.ts'
import { examplesPart, responsePart } from './operations.ts'
import { parameterEntry } from './schemas.ts'
import type { Section } from './sections.ts'

/** The headers and responses that all webhooks share, and every event type with its examples. */
export function webhookSections(webhooks: Record<string, { post: Webhook }>): Section[] {
  const [first] = Object.values(webhooks)
  if (first === undefined) return []
  const children = Object.entries(webhooks).map(([type, { post }]) => ({
    id: `webhook-${type}`,
    title: type,
    content: [
      renderMarkdown(post.description),
      ...examplesPart(post.requestBody.content['application/json'].examples),
    ].join('\n'),
    children: [],
  }))
  const content = [
    renderMarkdown(
      'Cada evento é um `POST` do serviço ao endereço do endpoint. O corpo é um [WebhookEvent](#esquema-webhookevent).',
    ),
    '<h3>Cabeçalhos do aviso</h3>',
    definitions(first.post.parameters.map(parameterEntry)),
    '<h3>O que a sua resposta significa</h3>',
    ...responsesOf(first.post).map(([status, response]) => responsePart(status, response)),
    '<h3>Tipos de evento</h3>',
  ].join('\n')
  return [{ id: 'webhooks', title: 'Webhooks', content, children }]
}
