// Generated from openapi/openapi.json by `npm run openapi`. Not to be edited.

/**
 * O corpo de um webhook. Só o de teste tem `order_id` nulo.
 */
export type WebhookEvent = OrderEvent | WebhookTestEvent

/**
 * Uma página de pedidos. Não há total.
 */
export interface OrderList {
  /**
   * Sempre `list`.
   */
  object: 'list'
  /**
   * Pedidos na ordem de `sort`.
   */
  data: Order[]
  /**
   * Se existe uma próxima página.
   */
  has_more: boolean
  /**
   * Valor de `cursor` para a próxima página; `null` quando `has_more` é falso.
   */
  next_cursor: string | null
}
/**
 * Pedido.
 */
export interface Order {
  /**
   * Sempre `order`.
   */
  object: 'order'
  /**
   * Identificador do pedido, prefixo `ord_`.
   */
  id: string
  /**
   * Papel da conta no pedido. O coprodutor vê os valores do pedido inteiro; para ele `tracking` e `navigator` são sempre `null`.
   */
  role: 'OWNER' | 'COPRODUCER'
  /**
   * Status do pedido; um pedido pode mudar de status mais de uma vez, em qualquer direção.
   *
   * - `AWAITING_PAYMENT`: PIX ou boleto emitido e ainda pagável; também um pagamento dividido entre a primeira e a segunda parte, e o início de um parcelamento inteligente.
   * - `UNPAID`: cobrança tentada sem pagamento: cartão recusado, PIX ou boleto vencido, teste encerrado sem conversão, assinatura cancelada na inadimplência.
   * - `PAID`: todo pagamento cobrado está pago; um reembolso parcial mantém este status.
   * - `CANCELED`: pagamento dividido não concluído em 20 minutos; as partes pagas são reembolsadas.
   * - `SHIPPED`: reservado, não usado hoje; seu programa deve aceitá-lo.
   * - `DELIVERED`: reservado, não usado hoje; seu programa deve aceitá-lo.
   * - `REFUNDED`: todo pagamento cobrado foi reembolsado por inteiro.
   * - `DISPUTED`: chargeback em todo pagamento cobrado.
   * - `TRIAL`: assinatura em teste, cartão guardado sem cobrança; os valores são 0.
   */
  status:
    | 'AWAITING_PAYMENT'
    | 'UNPAID'
    | 'PAID'
    | 'CANCELED'
    | 'SHIPPED'
    | 'DELIVERED'
    | 'REFUNDED'
    | 'DISPUTED'
    | 'TRIAL'
  /**
   * Moeda, código ISO 4217.
   */
  currency: string | null
  /**
   * Valor cobrado no checkout, em centavos. No parcelamento inteligente é o valor total do contrato.
   */
  amount_total: number
  /**
   * Soma de preço vezes quantidade dos produtos, em centavos.
   */
  amount_subtotal: number | null
  /**
   * Total em BRL, em centavos.
   */
  amount_in_brl: number | null
  /**
   * Instante de criação.
   */
  created_at: string
  /**
   * Instante em que o pedido foi pago.
   */
  paid_at: string | null
  /**
   * Instante do cancelamento.
   */
  canceled_at: string | null
  /**
   * Instante, em UTC com milissegundos, em que algum campo deste objeto mudou pela última vez; `null` enquanto o pedido não tiver passado pela carga inicial.
   */
  updated_at: string | null
  customer: Customer
  shipping_address: ShippingAddress | null
  payment: Payment
  /**
   * Produtos do pedido.
   */
  items: Item[]
  offer: Offer | null
  promocode: Promocode | null
  utm: Utm | null
  tracking: Tracking | null
  navigator: Navigator | null
  metadata: Metadata | null
}
/**
 * Comprador do pedido.
 */
export interface Customer {
  /**
   * Nome do comprador.
   */
  name: string
  /**
   * E-mail do comprador.
   */
  email: string
  /**
   * Telefone do comprador.
   */
  phone: string | null
  /**
   * CPF (11 dígitos) ou CNPJ (14 caracteres: dígitos e, desde julho de 2026, letras maiúsculas nos 12 primeiros), sem pontuação. Sempre `null` com uma chave `orders:read_masked`.
   */
  document: string | null
  /**
   * Decidido pelo tamanho de `document`; `null` quando o comprador não tem um. Uma chave `orders:read_masked` o vê sem o documento.
   */
  document_type: 'CPF' | 'CNPJ' | null
}
/**
 * Endereço de entrega informado no checkout.
 */
export interface ShippingAddress {
  /**
   * Rua.
   */
  line1: string
  /**
   * Número.
   */
  line2: string
  /**
   * Complemento.
   */
  line3: string | null
  /**
   * Bairro.
   */
  neighborhood: string
  /**
   * Cidade.
   */
  city: string
  /**
   * Estado.
   */
  state: string
  /**
   * País.
   */
  country: string
  /**
   * CEP.
   */
  postal_code: string
  /**
   * Nome de quem recebe.
   */
  full_name: string | null
}
/**
 * O pagamento mais recente, pela data de criação. Os valores somam as partes pagas só quando `method` é `MULTIPLE`; nos outros casos são os do último pagamento.
 */
export interface Payment {
  /**
   * Método do último pagamento. `MULTIPLE` é um pagamento dividido em 2 ou mais, por cartão e/ou PIX.
   */
  method: 'CREDIT_CARD' | 'BOLETO' | 'PIX' | 'MULTIPLE'
  /**
   * Status do último pagamento.
   *
   * - `PENDING`: em andamento.
   * - `FAILED`: não chegou ao banco (falha de comunicação da plataforma).
   * - `DECLINED`: recusado pelo banco, pelo adquirente ou pelo antifraude.
   * - `PAID`: pago.
   * - `UNPAID`: PIX ou boleto vencido.
   * - `PARTIALLY_REFUNDED`: reembolsado em parte.
   * - `REFUNDED`: reembolsado por inteiro.
   * - `DISPUTED`: chargeback.
   * - `TRIAL`: teste de assinatura, sem cobrança.
   */
  status:
    | 'PENDING'
    | 'FAILED'
    | 'DECLINED'
    | 'PAID'
    | 'UNPAID'
    | 'PARTIALLY_REFUNDED'
    | 'REFUNDED'
    | 'DISPUTED'
    | 'TRIAL'
  /**
   * Número de parcelas (PIX e boleto: 1); `null` só em registros antigos.
   */
  installments: number | null
  /**
   * Valor cobrado no último pagamento, em centavos (dividido: soma das partes pagas); 0 quando o status é `TRIAL`.
   */
  amount: number
  /**
   * Juros do parcelamento, em centavos.
   */
  interest_amount: number
  /**
   * Desconto do pagamento, em centavos, positivo: cupom, método de pagamento e quantidade.
   */
  discount_amount: number
  /**
   * Tarifa da plataforma pelo plano da conta, em centavos; não inclui a tarifa do adquirente nem a comissão de afiliados.
   */
  fee: number
  /**
   * Total reembolsado, acumulado e bruto, em centavos.
   */
  amount_refunded: number | null
  /**
   * Instante do reembolso do último pagamento.
   */
  refunded_at: string | null
  /**
   * Motivo padronizado da recusa, igual ao do webhook; `null` quando o último pagamento não foi recusado.
   */
  decline_code: string | null
  /**
   * Texto do motivo da recusa, para mostrar ao comprador.
   */
  decline_message: string | null
  card: Card | null
}
/**
 * Cartão do último pagamento.
 */
export interface Card {
  /**
   * Bandeira. A lista pode crescer; `null` quando não é reconhecida.
   */
  brand:
    | 'AMERICAN_EXPRESS'
    | 'DINERS_CLUB_INTERNATIONAL'
    | 'DISCOVER'
    | 'ELO'
    | 'ELO_DISCOVER'
    | 'HIPERCARD'
    | 'JCB'
    | 'MAESTRO'
    | 'MASTERCARD'
    | 'OUROCARD'
    | 'SODEXO'
    | 'UNIONPAY'
    | 'VISA'
    | (string & {})
    | null
  /**
   * Últimos 4 dígitos do cartão.
   */
  last4: string
}
/**
 * Um produto do pedido.
 */
export interface Item {
  /**
   * Identificador do produto, prefixo `prod_`.
   */
  product_id: string
  /**
   * Nome do produto.
   */
  name: string
  /**
   * Quantidade.
   */
  quantity: number
  /**
   * Preço unitário, em centavos.
   */
  unit_price: number
  /**
   * `unit_price` vezes `quantity`, em centavos.
   */
  sub_total: number
  /**
   * Moeda do item; hoje sempre `BRL`.
   */
  currency: string
  /**
   * Oferta pela qual o item foi vendido, prefixo `prod_offer_`.
   */
  offer_id: string | null
  /**
   * Plano da oferta, prefixo `prod_offer_plan_`.
   */
  plan_id: string | null
  /**
   * Order bump que acrescentou o item, prefixo `ob_`; `null` quando o item não veio de um.
   */
  order_bump_id: string | null
}
/**
 * Oferta do checkout do pedido.
 */
export interface Offer {
  /**
   * Identificador da oferta, prefixo `prod_offer_`.
   */
  id: string
  /**
   * Nome da oferta.
   */
  name: string
}
/**
 * Cupom aplicado.
 */
export interface Promocode {
  /**
   * Código do cupom.
   */
  code: string
  /**
   * Descrição do cupom.
   */
  description: string | null
  /**
   * Desconto do cupom em centavos, negativo; `payment.discount_amount` traz o desconto positivo.
   */
  amount: number
}
/**
 * Parâmetros UTM; as cinco chaves estão sempre presentes.
 */
export interface Utm {
  /**
   * `utm_source` do checkout.
   */
  utm_source: string | null
  /**
   * `utm_medium` do checkout.
   */
  utm_medium: string | null
  /**
   * `utm_campaign` do checkout.
   */
  utm_campaign: string | null
  /**
   * `utm_term` do checkout.
   */
  utm_term: string | null
  /**
   * `utm_content` do checkout.
   */
  utm_content: string | null
}
/**
 * Parâmetros de rastreamento que vieram na URL do checkout.
 */
export interface Tracking {
  [k: string]: string
}
/**
 * Navegador do comprador no checkout; nunca traz o IP.
 */
export interface Navigator {
  /**
   * User-Agent do navegador do comprador.
   */
  user_agent: string | null
  /**
   * Página de onde o comprador veio.
   */
  referer: string | null
  /**
   * Derivado de `user_agent`; a lista pode crescer.
   */
  device: 'Desktop' | 'Mobile' | 'Tablet' | (string & {}) | null
  /**
   * Derivado de `user_agent`; `null` quando não é reconhecido.
   */
  browser: string | null
  /**
   * Domínio de `referer`, sem `www.`.
   */
  origin: string | null
}
/**
 * Metadados comerciais: cada chave só aparece quando existe no pedido; sem nenhuma, um objeto vazio.
 */
export interface Metadata {
  /**
   * Pedido que originou este, em um upsell.
   */
  order_parent_id?: string
  /**
   * Origem do checkout.
   */
  origin?: string
  /**
   * Taxa de câmbio usada para converter o pedido em BRL.
   */
  currency_rate?: number
}
/**
 * A conta e a chave de uma requisição.
 */
export interface Account {
  /**
   * Sempre `account`.
   */
  object: 'account'
  /**
   * O id da conta.
   */
  id: string
  /**
   * Se a chave lê o sandbox da conta, que só tem pedidos fictícios.
   */
  test: boolean
  key: AccountKey
}
/**
 * A chave da requisição, sem o segredo.
 */
export interface AccountKey {
  /**
   * Identifica a chave; não é a chave.
   */
  id: string
  /**
   * O nome que a chave recebeu na criação.
   */
  name: string | null
  /**
   * O que a chave permite; vazia quando ela não lê pedidos.
   *
   * Items: Um acesso: `orders:read` lê pedidos, `orders:read_masked` os lê sem dados pessoais. A lista pode crescer.
   */
  scopes: ('orders:read' | 'orders:read_masked' | (string & {}))[]
  /**
   * Quando a chave deixa de valer; `null` para nunca.
   */
  expires_at: string | null
}
/**
 * Um evento de um pedido. `data` é o pedido, com os mesmos bytes de `GET /v1/orders/{id}`; falta em `order.removed`, quando o endpoint é `thin`, e quando o corpo passaria de 256 KB. Um tipo que você não conhece tem esta mesma forma.
 */
export interface OrderEvent {
  /**
   * Identificador do evento, igual ao cabeçalho `webhook-id`: o mesmo em toda nova tentativa, reenvio e repetição.
   */
  id: string
  /**
   * O que aconteceu. A lista pode crescer: responda 2xx a um tipo que não conhecer.
   */
  type:
    | 'order.created'
    | 'order.awaiting_payment'
    | 'order.paid'
    | 'order.unpaid'
    | 'order.canceled'
    | 'order.refunded'
    | 'order.disputed'
    | 'order.dispute_won'
    | 'order.trial_started'
    | 'order.payment_declined'
    | 'order.payment_expired'
    | 'order.payment_received'
    | 'order.partially_refunded'
    | 'order.updated'
    | 'order.removed'
    | (string & {})
  /**
   * Instante em que a mudança foi registrada; nunca diminui nos eventos de um pedido, exceto se a plataforma corrigir um relógio que estava adiantado.
   */
  timestamp: string
  /**
   * A conta que recebe o evento.
   */
  account_id: string
  /**
   * Só nos eventos do sandbox, que só os endpoints de teste recebem.
   */
  test?: true
  /**
   * O pedido.
   */
  order_id: string
  /**
   * Conta os eventos do pedido. Lacunas são normais; descarte um evento de `timestamp` menor que o que você já tem, ou do mesmo `timestamp` e de `sequence` menor.
   */
  sequence: number
  change: OrderChange
  data?: Order
}
/**
 * O que mudou, como `[antes, depois]`; só as chaves que mudaram. Em `order.created`, e nos outros eventos da mesma mudança, o valor de antes é `null`. Vazio em `order.updated` e em `order.removed`.
 */
export interface OrderChange {
  /**
   * `status` do pedido.
   *
   * @minItems 2
   * @maxItems 2
   */
  status?: [
    (
      | 'AWAITING_PAYMENT'
      | 'UNPAID'
      | 'PAID'
      | 'CANCELED'
      | 'SHIPPED'
      | 'DELIVERED'
      | 'REFUNDED'
      | 'DISPUTED'
      | 'TRIAL'
      | null
    ),
    (
      | 'AWAITING_PAYMENT'
      | 'UNPAID'
      | 'PAID'
      | 'CANCELED'
      | 'SHIPPED'
      | 'DELIVERED'
      | 'REFUNDED'
      | 'DISPUTED'
      | 'TRIAL'
      | null
    ),
  ]
  /**
   * `payment.status`.
   *
   * @minItems 2
   * @maxItems 2
   */
  payment_status?: [
    (
      | 'PENDING'
      | 'FAILED'
      | 'DECLINED'
      | 'PAID'
      | 'UNPAID'
      | 'PARTIALLY_REFUNDED'
      | 'REFUNDED'
      | 'DISPUTED'
      | 'TRIAL'
      | null
    ),
    (
      | 'PENDING'
      | 'FAILED'
      | 'DECLINED'
      | 'PAID'
      | 'UNPAID'
      | 'PARTIALLY_REFUNDED'
      | 'REFUNDED'
      | 'DISPUTED'
      | 'TRIAL'
      | null
    ),
  ]
  /**
   * O pagamento mais recente: muda numa renovação, numa parcela ou numa nova tentativa.
   *
   * @minItems 2
   * @maxItems 2
   */
  last_payment_id?: [string | null, string | null]
  /**
   * `payment.amount_refunded`, em centavos.
   *
   * @minItems 2
   * @maxItems 2
   */
  amount_refunded?: [number | null, number | null]
  /**
   * `payment.decline_code`, igual ao que a API devolve depois.
   *
   * @minItems 2
   * @maxItems 2
   */
  decline_code?: [string | null, string | null]
}
/**
 * O evento que `webhooks test` envia; não se refere a nenhum pedido.
 */
export interface WebhookTestEvent {
  /**
   * Identificador do evento, igual ao cabeçalho `webhook-id`: o mesmo em toda nova tentativa, reenvio e repetição.
   */
  id: string
  /**
   * Sempre `webhook.test`.
   */
  type: 'webhook.test'
  /**
   * Instante em que a mudança foi registrada; nunca diminui nos eventos de um pedido, exceto se a plataforma corrigir um relógio que estava adiantado.
   */
  timestamp: string
  /**
   * A conta que recebe o evento.
   */
  account_id: string
  /**
   * Só nos eventos do sandbox, que só os endpoints de teste recebem.
   */
  test?: true
  /**
   * Sempre `null`.
   */
  order_id: null
  /**
   * Sempre `null`.
   */
  sequence: null
  /**
   * Sempre vazio.
   */
  change: {}
}
/**
 * Corpo de todo erro do serviço.
 */
export interface ErrorBody {
  error: {
    /**
     * Família do erro.
     */
    type:
      | 'invalid_request_error'
      | 'authentication_error'
      | 'permission_error'
      | 'rate_limit_error'
      | 'api_error'
    /**
     * Código estável do erro.
     */
    code:
      | 'invalid_request'
      | 'invalid_api_key'
      | 'account_blocked'
      | 'insufficient_access'
      | 'resource_missing'
      | 'rate_limited'
      | 'internal_error'
      | 'service_unavailable'
    /**
     * Texto para uma pessoa, em português; pode mudar.
     */
    message: string
    /**
     * Parâmetro que causou o erro, quando há um.
     */
    param?: string
    /**
     * O mesmo valor do cabeçalho `Request-Id`.
     */
    request_id: string
  }
}
/**
 * Parâmetros de `GET /v1/orders`.
 */
export interface ListParams {
  /**
   * Pedidos por página.
   */
  limit?: number
  /**
   * O `next_cursor` da página anterior, exatamente como recebido; vale só para a mesma conta, os mesmos filtros e o mesmo `sort`.
   */
  cursor?: string
  /**
   * Pedidos com um destes status. Lista separada por vírgulas ou parâmetro repetido.
   *
   * @minItems 1
   */
  status?:
    | (
        | 'AWAITING_PAYMENT'
        | 'UNPAID'
        | 'PAID'
        | 'CANCELED'
        | 'SHIPPED'
        | 'DELIVERED'
        | 'REFUNDED'
        | 'DISPUTED'
        | 'TRIAL'
      )
    | readonly (
        | 'AWAITING_PAYMENT'
        | 'UNPAID'
        | 'PAID'
        | 'CANCELED'
        | 'SHIPPED'
        | 'DELIVERED'
        | 'REFUNDED'
        | 'DISPUTED'
        | 'TRIAL'
      )[]
  /**
   * Pedidos cujo último pagamento tem um destes métodos (`payment.method`). Lista separada por vírgulas ou parâmetro repetido.
   *
   * @minItems 1
   */
  payment_method?:
    | ('CREDIT_CARD' | 'BOLETO' | 'PIX' | 'MULTIPLE')
    | readonly ('CREDIT_CARD' | 'BOLETO' | 'PIX' | 'MULTIPLE')[]
  /**
   * Pedidos criados neste instante ou depois. Data, hora e fuso são obrigatórios; na URL, envie o `+` do fuso como `%2B`.
   */
  created_gte?: string | Date
  /**
   * Pedidos criados antes deste instante. Data, hora e fuso são obrigatórios; na URL, envie o `+` do fuso como `%2B`.
   */
  created_lt?: string | Date
  /**
   * Pedidos com `updated_at` neste instante ou depois; sem `include_undated=true`, nunca traz pedidos com `updated_at` nulo. Data, hora e fuso são obrigatórios; na URL, envie o `+` do fuso como `%2B`.
   */
  updated_gte?: string | Date
  /**
   * Pedidos com `updated_at` antes deste instante; sem `include_undated=true`, nunca traz pedidos com `updated_at` nulo. Data, hora e fuso são obrigatórios; na URL, envie o `+` do fuso como `%2B`.
   */
  updated_lt?: string | Date
  /**
   * Com `true`, `updated_gte` e `updated_lt` trazem também os pedidos com `updated_at` nulo, que em `updated_at_asc` vêm depois de todos os outros. Para ferramentas que enviam `updated_gte` desde a primeira leitura.
   */
  include_undated?: boolean
  /**
   * Pedidos pagos neste instante ou depois; nunca traz pedidos com `paid_at` nulo. Data, hora e fuso são obrigatórios; na URL, envie o `+` do fuso como `%2B`.
   */
  paid_gte?: string | Date
  /**
   * Pedidos pagos antes deste instante; nunca traz pedidos com `paid_at` nulo. Data, hora e fuso são obrigatórios; na URL, envie o `+` do fuso como `%2B`.
   */
  paid_lt?: string | Date
  /**
   * Pedidos com um destes produtos entre os itens (`items[].product_id`). No máximo 20 valores. Lista separada por vírgulas ou parâmetro repetido.
   *
   * @minItems 1
   * @maxItems 20
   */
  product_id?: string | readonly string[]
  /**
   * Pedidos de um comprador com um destes e-mails (`customer.email`): o e-mail inteiro, sem diferenciar maiúsculas de minúsculas. Na URL, envie o `+` como `%2B`. No máximo 20 valores. Lista separada por vírgulas ou parâmetro repetido.
   *
   * @minItems 1
   * @maxItems 20
   */
  customer_email?: string | readonly string[]
  /**
   * Pedidos de um comprador com um destes documentos (`customer.document`): CPF ou CNPJ, com ou sem pontuação. No máximo 20 valores. Lista separada por vírgulas ou parâmetro repetido.
   *
   * @minItems 1
   * @maxItems 20
   */
  customer_document?: string | readonly string[]
  /**
   * `created_at_desc`: por `created_at` e `id` decrescentes, para exibir ou exportar; nenhum pedido que a API já mostrava quando a primeira página foi lida se repete ou falta; um criado durante a leitura não aparece, a menos que a plataforma o grave com atraso, com `created_at` anterior ao ponto da leitura. `updated_at_asc`: por `updated_at` e `id` crescentes, nulos no fim, para manter uma cópia em dia; nenhum pedido que passa pelos filtros falta, e um que mudou durante a leitura aparece de novo (deduplique por `id`). Um pedido que deixa de passar pelos filtros durante a leitura, antes da sua página, não aparece mais: para uma cópia, filtre só por `created_gte`, `created_lt` e `updated_gte`.
   */
  sort?: 'created_at_desc' | 'updated_at_asc'
}
