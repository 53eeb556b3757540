/** The operations of the description, each with the pattern of its route. */
export const operationRoutes = {
  orders_list: '/v1/orders',
  orders_get: '/v1/orders/:id',
} as const

export type OperationId = keyof typeof operationRoutes

export const operationIds = Object.keys(operationRoutes) as OperationId[]
