import { listParamNames } from '../orders/list-params.ts'

/** What a page does not hand on to the next: `cursor` is a new one, and `limit` may change. */
const PAGE_PARAMS: readonly string[] = ['limit', 'cursor']

const sameListing = listParamNames
  .filter((name) => !PAGE_PARAMS.includes(name))
  .map((name) => [name, `$request.query.${name}`])

/** Where a page of orders leads, for programs that follow the description. */
export const pageLinks = {
  nextPage: {
    operationId: 'orders_list',
    description:
      'A próxima página, enquanto `has_more` é verdadeiro: os mesmos filtros e o mesmo `sort`.',
    parameters: { cursor: '$response.body#/next_cursor', ...Object.fromEntries(sameListing) },
  },
  order: {
    operationId: 'orders_get',
    description: 'Um dos pedidos da página; o primeiro, por exemplo.',
    parameters: { id: '$response.body#/data/0/id' },
  },
}
