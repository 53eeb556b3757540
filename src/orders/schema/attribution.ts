import { Type } from '@sinclair/typebox'
import { devices } from '../order-values.ts'
import { nullable, openList, resource, text } from './types.ts'

export const Utm = resource('Utm', 'Parâmetros UTM; as cinco chaves estão sempre presentes.', {
  utm_source: nullable(text('`utm_source` do checkout.', 'google')),
  utm_medium: nullable(text('`utm_medium` do checkout.', 'cpc')),
  utm_campaign: nullable(text('`utm_campaign` do checkout.', 'marco')),
  utm_term: nullable(text('`utm_term` do checkout.', 'violão')),
  utm_content: nullable(text('`utm_content` do checkout.', 'video')),
})

export const Tracking = Type.Unsafe<Record<string, string>>({
  type: 'object',
  title: 'Tracking',
  description: 'Parâmetros de rastreamento que vieram na URL do checkout.',
  additionalProperties: { type: 'string' },
  examples: [{ src: 'bio', fbclid: 'IwAR0abc' }],
})

export const Navigator = resource(
  'Navigator',
  'Navegador do comprador no checkout; nunca traz o IP.',
  {
    user_agent: nullable(text('User-Agent do navegador do comprador.', 'Mozilla/5.0')),
    referer: nullable(text('Página de onde o comprador veio.', 'https://www.instagram.com/p/1')),
    device: nullable(
      openList(devices, 'Derivado de `user_agent`; a lista pode crescer.', 'Mobile'),
    ),
    browser: nullable(text('Derivado de `user_agent`; `null` quando não é reconhecido.', 'Safari')),
    origin: nullable(text('Domínio de `referer`, sem `www.`.', 'instagram.com')),
  },
)

export const Metadata = Type.Object(
  {
    order_parent_id: Type.Optional(
      text('Pedido que originou este, em um upsell.', 'ord_9zY8xW7vU6tS5rQ4'),
    ),
    origin: Type.Optional(text('Origem do checkout.', 'checkout')),
    currency_rate: Type.Optional(
      Type.Number({
        format: 'double', // without it, generators for Go take 32 bits
        description: 'Taxa de câmbio usada para converter o pedido em BRL.',
        examples: [5.4321],
      }),
    ),
  },
  {
    title: 'Metadata',
    description:
      'Metadados comerciais: cada chave só aparece quando existe no pedido; sem nenhuma, um objeto vazio.',
  },
)
