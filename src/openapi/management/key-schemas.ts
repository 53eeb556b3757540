import { Type } from '@sinclair/typebox'
import { scopes } from '../../auth/key-store.ts'
import { instant, nullable, oneOf, pattern, resource, text } from '../../orders/schema/types.ts'
import { AT, HEX, kind } from './schema-parts.ts'

const apiKey = {
  object: kind('api_key'),
  id: pattern('^key_[0-9a-f]{32}$', 'Identifica a chave; não é a chave.', `key_${HEX}`),
  account_id: text('A conta cujos pedidos a chave lê.', 'acc_1'),
  name: nullable(text('O nome que você deu.', 'ERP')),
  scopes: Type.Array(
    oneOf(
      scopes,
      'Um acesso: `orders:read` lê pedidos, `orders:read_masked` os lê sem dados pessoais.',
      'orders:read',
    ),
    {
      description: 'O que a chave permite.',
      examples: [['orders:read']],
    },
  ),
  test: Type.Boolean({ description: 'Se ela lê o sandbox da conta.', examples: [false] }),
  last_four: text('Os quatro últimos caracteres, para reconhecê-la.', 'x7Qk'),
  created_at: instant('Quando foi criada.', AT),
  expires_at: nullable(instant('Quando deixa de valer; `null` para nunca.', AT)),
  revoked_at: nullable(instant('Quando foi revogada.', AT)),
  last_used_at: nullable(instant('O último uso, com até 10 segundos de atraso.', AT)),
}

export const ApiKey = resource('ApiKey', 'Uma chave da API pública, sem o segredo.', apiKey)

export const CreatedApiKey = resource('CreatedApiKey', 'Uma chave nova.', {
  ...apiKey,
  key: Type.Optional(
    pattern(
      '^key_(live|test)_',
      'A chave, que aparece só nesta resposta. Falta quando a resposta é a repetição de um `Idempotency-Key`.',
      'key_live_…',
    ),
  ),
})

export const Account = resource('Account', 'Uma conta.', {
  object: kind('account'),
  id: text('O id da conta.', 'acc_1'),
  blocked: Type.Boolean({
    description: 'Se as chaves da conta recebem `403 account_blocked`.',
    examples: [true],
  }),
})
