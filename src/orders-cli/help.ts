import { commandLine } from './terminal/format-text.ts'

/** A help text with the words that called the program, so that its lines can be copied. */
export const helpOf = (text: string, program: readonly string[]) =>
  text.replace(
    /^( *)orders (?=[a-z]|COMANDO|--)/gm,
    (_, indent) => `${indent}${commandLine(program)} `,
  )

export const ordersHelp = `orders: os pedidos da sua conta, em planilhas, arquivos e bancos

  orders export --format xlsx --out pedidos.xlsx
      todos os pedidos, numa planilha
  orders get ord_1aB2cD3eF4gH5iJ6
      um pedido, em JSON
  orders sync sqlite:pedidos.db
      uma cópia local que fica em dia (sqlite: precisa do Node 22.13)

  orders COMANDO --help
      as opções de cada um
  orders --version
      a versão

O endereço da API vai em --url, ou na variável ORDERS_API_URL. A chave vai na
variável ORDERS_API_KEY; sem ela, o comando pergunta, e o que você digita não
aparece. A chave nunca vai na linha de comando.

O resultado sai na saída padrão, e todo o resto na de erros. O comando termina
com 0; com 1 se falhou; com 2 se a linha de comando está errada; interrompido,
com 130 (Ctrl-C) ou 143 (SIGTERM).
`

export const exportHelp = `orders export --format ndjson|csv|csv-br|xlsx [opções]

Exporta todos os pedidos, ou os que passam pelos filtros, dos mais novos aos
mais antigos.

  --url URL            endereço da API (ou ORDERS_API_URL)
  --format FORMATO     ndjson, csv, csv-br ou xlsx; veja abaixo
  --rows LINHAS        orders, uma linha por pedido (o padrão), ou items, uma
                       por produto; não vale em ndjson
  --headers NOMES      pt: títulos das colunas em português; api: os nomes dos
                       campos (o padrão); não vale em ndjson
  --out ARQUIVO        onde escrever; sem ele, na saída padrão. xlsx precisa
                       dele
  --resume             continua a exportação que parou no meio

Filtros, os mesmos da API; os que são lista separam valores por vírgula:
  --status LISTA            PAID,REFUNDED
  --payment-method LISTA    PIX,BOLETO
  --created-gte INSTANTE    criados a partir de: uma data, 01/03/2026, que vale
                            desde a meia-noite de Brasília; ou um instante com
                            hora e fuso, 2026-03-01T00:00:00-03:00
  --created-lt INSTANTE     criados antes de; março acaba antes de 01/04/2026
  --updated-gte INSTANTE    alterados a partir de
  --updated-lt INSTANTE     alterados antes de
  --include-undated         com os dois acima, também os que não têm updated_at
  --paid-gte INSTANTE       pagos a partir de
  --paid-lt INSTANTE        pagos antes de
  --product-id LISTA        com um destes produtos: prod_1,prod_2
  --customer-email LISTA    de compradores com um destes e-mails
  --customer-document LISTA de compradores com um destes CPF ou CNPJ
  --sort ORDEM              created_at_desc (o padrão) ou updated_at_asc (neste,
                            um pedido alterado durante a exportação vem de novo,
                            mais adiante)

Formatos:
  ndjson   um pedido por linha, em JSON, com todos os campos, inclusive os que a
           API vier a ter

  csv      para programas: RFC 4180, vírgula, UTF-8, linhas com CRLF, uma coluna
           por campo (payment.amount); valores como na API: centavos inteiros,
           instantes em UTC; items e tracking em JSON
           não protege contra fórmulas (um nome que começa com =): para abrir no
           Excel, use csv-br ou xlsx

  csv-br   para o Excel em português: abre com dois cliques. Muda, em relação à
           API:
           - ponto e vírgula entre colunas, e a marca que faz o Excel ler UTF-8
           - centavos viram valores com vírgula decimal, exatos, na moeda do
             pedido: 9900 vira 99,00
           - instantes viram dd/mm/aaaa hh:mm:ss no horário de Brasília, sem os
             milissegundos; antes de março de 1900, que o Excel não mostra,
             ficam como na API
           - texto que o Excel trocaria por número, data ou fórmula (CPF, CEP,
             telefone, nomes que começam com = + - @) vai como ="00123", que
             aparece e se comporta como o texto; se não couber ali (mais de 255
             caracteres, ou com quebra de linha), vai com um apóstrofo na frente
           - items vira texto: 2 × Curso de violão (198,00)
           - caracteres de controle saem, e uma célula acaba nos 32.767
             caracteres que o Excel aceita

  xlsx     uma planilha do Excel: valores como números com duas casas, na moeda
           do pedido; datas como datas no horário de Brasília; e o resto como
           texto, que nunca vira fórmula; é texto também um instante antes de
           março de 1900. Acima de 300.000 linhas, continua em outra aba do
           mesmo arquivo

Com --rows items as colunas do pedido se repetem em cada produto: some
item.sub_total, e não amount_total.

Com --out, os pedidos ficam em ARQUIVO.part até o fim, e só então recebem o
nome, no lugar do que havia ali. Se algo parar no meio, repita o mesmo comando
com --resume: ele continua de onde parou (e começa, se não há o que continuar),
com uma chave de mesmo acesso a dados pessoais. ARQUIVO.part.json guarda o
ponto; não há chave nele. Se ARQUIVO é um link simbólico, vale o arquivo que ele
indica.

Exemplos:
  orders export --format csv-br --out pedidos.csv
  orders export --format csv-br --rows items --out itens.csv
  orders export --format xlsx --headers pt --out pedidos.xlsx
  orders export --format ndjson | gzip > pedidos.ndjson.gz
`

export const getHelp = `orders get ID [--url URL]

Mostra um pedido, em JSON. A chave vai em ORDERS_API_KEY, ou o comando pergunta.

Exemplo:
  orders get ord_1aB2cD3eF4gH5iJ6
`

export const syncHelp = `orders sync PASTA|sqlite:ARQUIVO [opções]

Mantém uma cópia local dos pedidos em dia: na primeira vez lê tudo, depois só o
que mudou. Pedidos que não existem mais saem da cópia na leitura completa, que é
feita uma vez por dia. Se parar no meio, repita o comando.

  PASTA                um arquivo JSON por pedido, em PASTA/orders; uma pasta
                       vazia, nova, ou de uma cópia
  sqlite:ARQUIVO       um banco SQLite: a visão orders_typed, com cada campo
                       numa coluna de tipo certo (dinheiro em centavos), a visão
                       items, e a tabela orders; pode ser lido enquanto
                       sincroniza. Precisa do Node 22.13

  --url URL            endereço da API (ou ORDERS_API_URL)
  --since INSTANTE     só pedidos alterados a partir daí: 01/03/2026 (a
                       meia-noite de Brasília), ou um instante com hora e fuso;
                       vale na primeira vez, e a cópia o guarda
  --watch              continua sincronizando, até Ctrl-C; num serviço do
                       systemd, ponha SuccessExitStatus=143
  --interval TEMPO     de quanto em quanto tempo, com --watch: 30s, 5m, 1h; o
                       padrão é 60s
  --all                faz a leitura completa agora
  --accept-new-key     a chave mudou, e é da mesma conta; o comando confere a
                       conta, e lê tudo de novo
  --allow-mass-removal permite que uma leitura completa remova mais da metade de
                       uma cópia de mais de 20 pedidos; sem esta opção ela para
                       com erro e não remove nada, porque a plataforma pode ter
                       perdido o índice

Exemplos:
  orders sync pedidos
  orders sync sqlite:pedidos.db --watch --interval 5m

Pare o --watch antes de restaurar uma cópia do banco. Pare-o também para limpar,
uma vez, o banco de uma versão anterior, que pode conter o texto de pedidos
removidos:
  sqlite3 pedidos.db VACUUM

O total por papel, status e moeda, sem descontar reembolsos parciais; em
coprodução, o valor do pedido inteiro:
  sqlite3 pedidos.db "select role, status, coalesce(currency,'BRL'),
    sum(amount_total)/100.0 from orders_typed group by 1,2,3"
`
