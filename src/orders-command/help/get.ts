export const getHelp = `orders get ID [--url URL]

Mostra um pedido, em JSON. A chave vai em ORDERS_API_KEY, ou o comando pergunta.

Exemplo:
  orders get ord_1aB2cD3eF4gH5iJ6 --url https://api.exemplo.com.br
`
