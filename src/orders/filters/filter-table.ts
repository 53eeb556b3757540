import { canonicalDocument, canonicalEmail, canonicalProductId } from '../lookups.ts'
import { orderStatuses, paymentMethods } from '../order-values.ts'
import type { Filter } from './filter-types.ts'

/**
 * Every filter of `GET /v1/orders`. Parser, suggestions, API reference, cursors and both stores
 * read this table. Different filters combine with AND, the values of one filter with OR.
 */
export const orderFilters = {
  statuses: {
    kind: 'enum',
    param: 'status',
    column: 'status',
    values: orderStatuses,
    description: 'Pedidos com um destes status.',
    example: 'PAID',
    synonyms: [],
    isPersonal: false,
    isInEveryCursor: true,
  },
  paymentMethods: {
    kind: 'enum',
    param: 'payment_method',
    column: 'payment_method',
    values: paymentMethods,
    description: 'Pedidos cujo último pagamento tem um destes métodos (`payment.method`).',
    example: 'PIX',
    synonyms: ['method', 'paymenttype'],
    isPersonal: false,
    isInEveryCursor: true,
  },
  created: {
    kind: 'range',
    column: 'created_key',
    isNullable: false,
    gte: {
      param: 'created_gte',
      description: 'Pedidos criados neste instante ou depois.',
      synonyms: [
        'created',
        'createdat',
        'createdafter',
        'createdsince',
        'createdfrom',
        'createdatfrom',
        'createdatmin',
      ],
    },
    lt: {
      param: 'created_lt',
      description: 'Pedidos criados antes deste instante.',
      synonyms: ['createdbefore', 'createduntil', 'createdto', 'createdatto', 'createdatmax'],
    },
    isPersonal: false,
    isInEveryCursor: true,
  },
  updated: {
    kind: 'range',
    column: 'updated_key',
    isNullable: true,
    gte: {
      param: 'updated_gte',
      description:
        'Pedidos com `updated_at` neste instante ou depois; sem `include_undated=true`, nunca traz pedidos com `updated_at` nulo.',
      synonyms: [
        'updated',
        'updatedat',
        'updatedafter',
        'updatedsince',
        'updatedfrom',
        'updatedatmin',
        'modifiedsince',
      ],
    },
    lt: {
      param: 'updated_lt',
      description:
        'Pedidos com `updated_at` antes deste instante; sem `include_undated=true`, nunca traz pedidos com `updated_at` nulo.',
      synonyms: ['updatedbefore', 'updateduntil', 'updatedto', 'updatedatmax', 'modifiedbefore'],
    },
    orNull: {
      param: 'include_undated',
      description:
        'Com `true`, `updated_gte` e `updated_lt` trazem também os pedidos com `updated_at` nulo, que em `updated_at_asc` vêm depois de todos os outros. Para ferramentas que enviam `updated_gte` desde a primeira leitura.',
      synonyms: ['includenull', 'includenulls', 'undated', 'withundated'],
    },
    isPersonal: false,
    isInEveryCursor: true,
  },
  paid: {
    kind: 'range',
    column: 'paid_key',
    isNullable: true,
    gte: {
      param: 'paid_gte',
      description: 'Pedidos pagos neste instante ou depois; nunca traz pedidos com `paid_at` nulo.',
      synonyms: ['paid', 'paidat', 'paidafter', 'paidsince', 'paidfrom', 'paidatmin'],
    },
    lt: {
      param: 'paid_lt',
      description: 'Pedidos pagos antes deste instante; nunca traz pedidos com `paid_at` nulo.',
      synonyms: ['paidbefore', 'paiduntil', 'paidto', 'paidatmax'],
    },
    isPersonal: false,
    isInEveryCursor: false,
  },
  productIds: {
    kind: 'text',
    param: 'product_id',
    column: 'product_ids',
    canonical: canonicalProductId,
    pattern: '^prod_[^,]+$',
    description: 'Pedidos com um destes produtos entre os itens (`items[].product_id`).',
    help: 'Envie o product_id de um item como a API o devolve, com o prefixo prod_.',
    example: 'prod_1',
    synonyms: ['product', 'productids', 'items', 'item', 'itemid', 'sku'],
    isPersonal: false,
    isInEveryCursor: false,
  },
  customerEmails: {
    kind: 'text',
    param: 'customer_email',
    column: 'customer_email',
    canonical: canonicalEmail,
    pattern: '^[^\\s,@]+@[^\\s,@]+$',
    description:
      'Pedidos de um comprador com um destes e-mails (`customer.email`): o e-mail inteiro, sem diferenciar maiúsculas de minúsculas. Na URL, envie o `+` como `%2B`.',
    help: 'Envie o e-mail inteiro, como ana@exemplo.com.br, sem espaços.',
    spaceHelp: 'Em uma URL o + vira espaço: envie + como %2B.',
    example: 'ana@exemplo.com.br',
    synonyms: ['email', 'mail', 'customer', 'buyer', 'buyeremail', 'useremail'],
    isPersonal: true,
    isInEveryCursor: false,
  },
  customerDocuments: {
    kind: 'text',
    param: 'customer_document',
    column: 'customer_document',
    canonical: canonicalDocument,
    // The characters themselves: a regular expression of Go rejects their escapes. Of all dashes,
    // those of text that people paste: a class by property needs a flag in JavaScript.
    pattern: '^[0-9A-Za-z./\\s\u00ad\u200b\u2010-\u2015\u2212\ufe58\ufe63\uff0d-]{11,}$',
    description:
      'Pedidos de um comprador com um destes documentos (`customer.document`): CPF ou CNPJ, com ou sem pontuação.',
    help: 'Envie um CPF de 11 dígitos ou um CNPJ de 14 caracteres, com ou sem pontuação. Em um CNPJ com letras os dígitos verificadores devem estar certos.',
    example: '12345678909',
    synonyms: ['document', 'cpf', 'cnpj', 'taxid', 'documento', 'buyerdocument'],
    isPersonal: true,
    isInEveryCursor: false,
  },
} as const satisfies Record<string, Filter>
