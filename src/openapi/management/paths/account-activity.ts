import { CreateSession } from '../../../http/management/routes/sessions.ts'
import { DEFAULT_DAYS, MAX_DAYS } from '../../../http/management/routes/usage.ts'
import { account, operations, page, query } from '../operation.ts'

const day = { type: 'string', format: 'date' }

/** The operations on usage, the audit log and console sessions. */
export const activityPaths = operations({
  '/v1/accounts/{account}/usage': {
    get: {
      operationId: 'usage_get',
      tag: 'Uso e auditoria',
      summary: 'Mostra o uso de uma conta',
      description: `Chamadas por dia e por chave, em dias UTC. No máximo ${MAX_DAYS} dias de uma vez.`,
      parameters: [
        account,
        query('by', 'Como o uso é somado.', { type: 'string', enum: ['key'] }, 'key'),
        query(
          'from',
          `O primeiro dia; por padrão, ${DEFAULT_DAYS - 1} dias antes de \`to\`: ${DEFAULT_DAYS} dias ao todo.`,
          day,
          '2026-11-01',
        ),
        query('to', 'O último dia, inclusive; hoje por padrão.', day, '2026-11-30'),
      ],
      response: { status: 200, description: 'O uso.', schema: 'Usage' },
    },
  },
  '/v1/audit': {
    get: {
      operationId: 'audit_list',
      tag: 'Uso e auditoria',
      summary: 'Lista o registro de auditoria',
      description:
        'Toda mudança feita por esta API, pelo painel e pela linha de comando, com quem a fez. Pedidos enviados são contados, e não ficam aqui.',
      parameters: [
        query('account_id', 'Só as mudanças desta conta.', account.schema, 'acc_1'),
        ...page,
      ],
      response: { status: 200, description: 'Uma página.', schema: 'AuditEntryList' },
    },
  },
  '/v1/accounts/{account}/sessions': {
    post: {
      operationId: 'sessions_create',
      tag: 'Painel',
      summary: 'Cria um link para o painel',
      description:
        'O link abre o painel da conta uma única vez, em até 60 segundos. `ttl_seconds` é a duração da sessão, 1 hora por padrão e 12 horas no máximo. Redirecione o seu usuário para ele; não o envie por e-mail. O processo que responde precisa de `CONSOLE_PORT`; sem ele, a chamada dá `400` sem `error.param`.',
      parameters: [account],
      body: {
        of: CreateSession,
        example: { subject: 'ana@loja.exemplo.com.br', capabilities: ['keys', 'webhooks'] },
      },
      response: { status: 201, description: 'O link.', schema: 'ConsoleLink' },
      errorCodes: ['invalid_capabilities', 'account_blocked'],
    },
  },
})
