/**
 * The public files of `openapi/recipes`. A list, because a recipe that was run there leaves copies
 * of orders in its folder. Without `.npmrc` and `.gitignore`, which npm leaves out of packages.
 */
export const recipeFiles = [
  'README.md',
  'airbyte/pedidos.yaml',
  'airbyte/requirements.txt',
  'dlt/pedidos_dlt.py',
  'dlt/requirements.txt',
  'google-sheets/Code.gs',
  'n8n/orders-n8n.json',
  'openapi-typescript/package-lock.json',
  'openapi-typescript/package.json',
  'openapi-typescript/src/fetch-with-retry.ts',
  'openapi-typescript/src/pedidos.ts',
  'openapi-typescript/tsconfig.json',
  'power-query/orders.pq',
  'python/pedidos.py',
  'python/pedidos_curto.py',
  'webhooks/n8n/webhooks-n8n.json',
  'webhooks/node/package.json',
  'webhooks/node/receptor.mjs',
  'webhooks/php/receptor.php',
  'webhooks/python/receptor.py',
] as const
