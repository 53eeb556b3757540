export const syncHelp = `orders sync PASTA|sqlite:ARQUIVO [opções]

Mantém uma cópia local dos pedidos em dia: na primeira vez lê tudo, depois só o que mudou. Pedidos que não existem
mais saem da cópia na leitura completa, que é feita uma vez por dia. Se parar no meio, repita o comando.

  PASTA                um arquivo JSON por pedido, em PASTA/orders; uma pasta vazia, nova, ou de uma cópia
  sqlite:ARQUIVO       um banco SQLite: a tabela orders, com colunas como status, created_at, amount_total e
                       customer_email, e a visão items; pode ser lido enquanto sincroniza. Precisa do Node 22.13

  --url URL            endereço da API (ou ORDERS_API_URL)
  --since INSTANTE     só pedidos alterados a partir daí; vale na primeira vez, e a cópia o guarda
  --watch              continua sincronizando, até Ctrl-C
  --interval TEMPO     de quanto em quanto tempo, com --watch: 30s, 5m, 1h; 60s se nada for dito
  --all                lê tudo agora, sem esperar o dia
  --accept-new-key     a chave mudou, e é da mesma conta
  --allow-mass-removal uma leitura completa que tiraria mais da metade de uma cópia de mais de 20 pedidos para com
                       erro, sem tirar nada, porque a plataforma pode ter perdido o índice; com esta opção, ela tira

Exemplos:
  orders sync pedidos
  orders sync sqlite:pedidos.db --watch --interval 5m
  sqlite3 pedidos.db "select status, count(*), sum(amount_total) from orders group by status"
`
