import { type Static, Type } from '@sinclair/typebox'
import { scopes } from '../../auth/key-store.ts'
import { instant, nullable, openList, pattern, resource, text } from '../../orders/schema/types.ts'

const AccountKey = resource('AccountKey', 'A chave da requisição, sem o segredo.', {
  id: pattern(
    '^key_[0-9a-f]{32}$',
    'Identifica a chave; não é a chave.',
    'key_3f2a9c4e7b1d4f6a8c0e2b4d6f8a1c3e',
  ),
  name: nullable(text('O nome que a chave recebeu na criação.', 'ERP')),
  scopes: Type.Array(
    openList(
      scopes,
      'Um acesso: `orders:read` lê pedidos, `orders:read_masked` os lê sem dados pessoais. A lista pode crescer.',
      'orders:read',
    ),
    {
      description: 'O que a chave permite; vazia quando ela não lê pedidos.',
      examples: [['orders:read']],
    },
  ),
  expires_at: nullable(
    instant('Quando a chave deixa de valer; `null` para nunca.', '2027-03-01T12:00:00.000Z'),
  ),
})

/** The response of `GET /v1/account`. */
export const Account = resource('Account', 'A conta e a chave de uma requisição.', {
  object: Type.Literal('account', { description: 'Sempre `account`.' }),
  id: text('O id da conta.', 'acc_1'),
  test: Type.Boolean({
    description: 'Se a chave lê o sandbox da conta, que só tem pedidos fictícios.',
    examples: [false],
  }),
  key: AccountKey,
})
export type Account = Static<typeof Account>

const example: Account = {
  object: 'account',
  id: 'acc_1',
  test: false,
  key: {
    id: 'key_3f2a9c4e7b1d4f6a8c0e2b4d6f8a1c3e',
    name: 'ERP',
    scopes: ['orders:read'],
    expires_at: null,
  },
}

/** Examples of `GET /v1/account`. */
export const accountExamples = {
  chave_de_um_erp: { summary: 'A chave de um ERP, sem prazo', value: example },
}
