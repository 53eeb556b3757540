/** Renders `llms.txt` (https://llmstxt.org): a summary for language models, with links. */
export function llmsText({ title }: { title: string }): string {
  return `# ${title}

> API somente de leitura: cada conta lê os próprios pedidos, como dona ou coprodutora. Três rotas, \`GET /v1/orders\`, \`GET /v1/orders/{id}\` e \`GET /v1/account\` (confere a chave), com a chave no cabeçalho \`Authorization: Bearer <API_KEY>\`.

- Valores em dinheiro são inteiros em centavos; instantes são ISO 8601.
- Todo campo está sempre presente, com \`null\` onde não há valor; só variam as chaves de \`metadata\` e de \`tracking\`.
- Páginas: repita a chamada com \`cursor\` igual a \`next_cursor\` enquanto \`has_more\` for verdadeiro. Não há total.
- Cópia em dia: \`sort=updated_at_asc\` uma vez por inteiro; depois \`updated_gte\` igual ao maior \`updated_at\` visto menos 60 segundos, gravando por \`id\`. De vez em quando, tudo de novo: um pedido apagado some da lista.
- Webhooks: o serviço avisa de cada mudança com um POST assinado (Standard Webhooks). Confira a assinatura sobre os bytes exatos, responda 2xx em segundos, ignore um \`webhook-id\` repetido e uma \`sequence\` mais antiga. O webhook é o aviso; a cópia em dia é a verdade.
- Limite por conta: 20 requisições de uma vez, repostas a 10 por segundo. Em \`429\` e \`503\`, espere \`Retry-After\` segundos.
- Decida por \`error.code\`, que é estável. Ignore campos e valores que não conhecer.

## Documentação

- [Guia e referência em Markdown](/docs.md): tudo o que a página de documentação tem, numa só leitura
- [Descrição OpenAPI 3.1](/openapi.json): rotas, parâmetros, esquemas, erros e programas de exemplo
- [Página para pessoas](/docs): o mesmo, com chamadas de teste

## Mudanças

- [Feed Atom](/docs/changes.atom): o que foi acrescentado, anunciado ou descontinuado
`
}
