import { commonResponses } from './errors.ts'
import { managementHeaders } from './headers.ts'
import { activityPaths } from './paths/account-activity.ts'
import { keyPaths } from './paths/keys.ts'
import { sandboxPaths } from './paths/sandbox.ts'
import { sourceOrderPaths } from './paths/source-orders.ts'
import { webhookPaths } from './paths/webhooks.ts'
import { managementSchemas } from './schemas.ts'

/** Builds the OpenAPI 3.1 description of the management API. */
export function buildManagementDocument() {
  return {
    openapi: '3.1.0',
    info: {
      title: 'API de gestão',
      version: '1.0.0',
      description:
        'A plataforma envia pedidos e administra chaves, webhooks e sandboxes das contas. Esta API responde só na rede interna, e o guia está em `/docs`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    externalDocs: { url: '/docs', description: 'Guia e referência' },
    servers: [{ url: '/', description: 'O endereço em que este documento é servido' }],
    tags: [
      { name: 'Pedidos', description: 'A plataforma envia as mudanças dos pedidos.' },
      { name: 'Chaves e contas', description: 'As chaves da API pública e o bloqueio de contas.' },
      { name: 'Webhooks', description: 'Os endpoints de uma conta e as entregas a eles.' },
      { name: 'Uso e auditoria', description: 'O que foi chamado e o que foi mudado.' },
      { name: 'Sandbox', description: 'Pedidos de teste de uma conta, separados dos reais.' },
      { name: 'Painel', description: 'Links para o painel da conta.' },
    ],
    security: [{ token: [] }],
    paths: { ...sourceOrderPaths, ...keyPaths, ...webhookPaths, ...activityPaths, ...sandboxPaths },
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'Um token de `MANAGEMENT_TOKENS`.',
        },
      },
      schemas: managementSchemas(),
      responses: commonResponses(),
      headers: managementHeaders,
    },
  }
}
