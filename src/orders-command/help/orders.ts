export const ordersHelp = `orders: os pedidos da sua conta, em planilhas, arquivos e bancos

  orders export --format csv-br --out pedidos.csv    todos os pedidos, num arquivo
  orders get ord_1aB2cD3eF4gH5iJ6                    um pedido, em JSON
  orders sync sqlite:pedidos.db                      uma cópia local que fica em dia

  orders COMANDO --help      as opções de cada um
  orders --version           a versão

O endereço da API vai em --url, ou na variável ORDERS_API_URL. A chave vai na variável ORDERS_API_KEY; sem ela, o
comando pergunta, e o que você digita não aparece. A chave nunca vai na linha de comando.

O resultado sai na saída padrão, e todo o resto na de erros. O comando termina com 0; com 1 se falhou; com 2 se a
linha de comando está errada.
`
