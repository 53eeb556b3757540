/** The operations of the OpenAPI description, each with its Fastify route pattern. */
export const operationRoutes = {
  orders_list: '/v1/orders',
  orders_get: '/v1/orders/:id',
  account_get: '/v1/account',
} as const

export type OperationId = keyof typeof operationRoutes

export const operationIds = Object.keys(operationRoutes) as OperationId[]
