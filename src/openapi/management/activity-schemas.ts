import { Type } from '@sinclair/typebox'
import { auditActions, auditOutcomes } from '../../management/audit/audit-entry.ts'
import {
  instant,
  integer,
  nullable,
  oneOf,
  openList,
  pattern,
  resource,
  text,
} from '../../orders/schema/types.ts'
import { AT, HEX, kind } from './schema-parts.ts'

export const AuditEntry = resource('AuditEntry', 'Uma mudança, com o seu desfecho.', {
  object: kind('audit_entry'),
  id: pattern('^aud_[0-9a-f]{32}$', 'Identifica o registro.', `aud_${HEX}`),
  at: instant('Quando a mudança começou.', AT),
  actor: text('`token:NOME`, `console:QUEM` ou `cli`.', 'token:backoffice'),
  action: openList(auditActions, 'O que foi feito. A lista pode crescer.', 'key.create'),
  account_id: text('A conta atingida.', 'acc_1'),
  target: text('O id do que mudou; nunca um segredo.', `key_${HEX}`),
  successor: nullable(
    text(
      'A chave que `key.roll` criou; `null` nas outras ações e nas trocas anteriores a este campo.',
      null,
    ),
  ),
  request_id: nullable(text('O `Request-Id` da chamada; `null` para um comando.', `req_${HEX}`)),
  outcome: oneOf(
    auditOutcomes,
    '`failed`: nada mudou. `unknown`: o processo terminou, ou o armazenamento não respondeu, antes de registrar o desfecho; a mudança pode existir.',
    'done',
  ),
})

const UsageDay = resource('UsageDay', 'As chamadas de uma chave em um dia.', {
  day: Type.String({ format: 'date', description: 'O dia em UTC.', examples: ['2026-11-23'] }),
  key_id: text('A chave.', `key_${HEX}`),
  requests: integer(1, 'Toda resposta autenticada, `304` e `429` inclusive.', 120),
  by_status: Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
    description: 'Respostas por status.',
    examples: [{ 200: 118, 429: 2 }],
  }),
  rate_limited: integer(0, 'Quantas delas foram `429`.', 2),
})

export const Usage = resource(
  'Usage',
  'O uso de uma conta por dia e chave, com até 10 segundos de atraso.',
  {
    object: kind('usage'),
    data: Type.Array(UsageDay, { description: 'Por dia e depois por chave; dias sem uso faltam.' }),
  },
)

export const ConsoleLink = resource('ConsoleLink', 'Um link que abre o painel uma única vez.', {
  url: Type.Optional(
    text(
      'O endereço, com o token no fragmento. Vale 60 segundos. Falta quando a resposta é a repetição de um `Idempotency-Key`.',
      'https://painel.exemplo.com.br/painel#…',
    ),
  ),
  expires_at: instant('Até quando o link pode ser aberto.', AT),
})
