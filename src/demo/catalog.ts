import type { DemoAccount } from './accounts.ts'
import type { Random } from './random.ts'

/** Paid once, monthly (`subscription`), or once in US dollars (`export`). */
export type ProductKind = 'digital' | 'physical' | 'export' | 'subscription'

/** A product of one account and its co-producers, with the prices of its offers in cents. */
export interface Product {
  account: DemoAccount
  kind: ProductKind
  slug: string
  name: string
  prices: readonly number[]
  coproducers: readonly DemoAccount[]
}

/** An add-on that the checkout offers with a product; price in cents. */
export interface OrderBump {
  slug: string
  name: string
  price: number
}

const DEMO = 'acc_demo'
const EDITORA = 'acc_demo_editora'
const ESTUDIO = 'acc_demo_estudio'
const LOJA = 'acc_demo_loja'
const PARCEIRO = 'acc_demo_parceiro'

type Row = [DemoAccount, ProductKind, string, string, number[], DemoAccount[]]

const rows: Row[] = [
  [DEMO, 'digital', 'violao', 'Curso de violão', [9900, 6900], []],
  [DEMO, 'digital', 'financas', 'Finanças sem medo', [49700, 29700], [ESTUDIO]],
  [DEMO, 'digital', 'fotografia', 'Fotografia com celular', [19700], []],
  [DEMO, 'digital', 'mentoria', 'Mentoria de criação', [249700], [EDITORA, ESTUDIO, PARCEIRO]],
  [DEMO, 'physical', 'caderno', 'Caderno de partituras', [5990], []],
  [DEMO, 'physical', 'aquarela', 'Kit de aquarela', [18900, 15900], [LOJA, EDITORA]],
  [DEMO, 'export', 'aquarela_intl', 'Kit de aquarela (envio internacional)', [5900], []],
  [DEMO, 'subscription', 'clube', 'Clube do violão', [4990], []],
  [DEMO, 'subscription', 'comunidade', 'Comunidade de criadores', [8990, 5990], [PARCEIRO]],
  [EDITORA, 'digital', 'receitas', 'E-book Receitas de família', [2990], [DEMO]],
  [ESTUDIO, 'digital', 'edicao', 'Edição de vídeo do zero', [39700], []],
  [PARCEIRO, 'digital', 'ingles', 'Inglês em 90 dias', [59700, 44700], [DEMO, EDITORA]],
  [EDITORA, 'physical', 'livro', 'Livro Histórias do sertão', [6490], [DEMO, ESTUDIO, LOJA]],
  [LOJA, 'physical', 'camiseta', 'Camiseta bordada', [8990, 7490], []],
  [LOJA, 'export', 'camiseta_intl', 'Camiseta bordada (envio internacional)', [3200], [DEMO]],
  [EDITORA, 'subscription', 'revista', 'Revista digital', [2490], [DEMO]],
  [ESTUDIO, 'subscription', 'aulas', 'Aulas ao vivo', [12900], []],
]

const products = rows.map(
  ([account, kind, slug, name, prices, coproducers]): Product => ({
    account,
    kind,
    slug,
    name,
    prices,
    coproducers,
  }),
)

/** The order bumps of each kind of product. */
export const orderBumps = {
  digital: [
    { slug: 'apostila', name: 'Apostila em PDF', price: 2990 },
    { slug: 'planilha', name: 'Planilha de acompanhamento', price: 1900 },
  ],
  physical: [{ slug: 'embrulho', name: 'Embrulho para presente', price: 900 }],
  export: [],
  subscription: [],
} as const satisfies Record<ProductKind, readonly OrderBump[]>

const DEMO_SHARE = 0.7

/** Draws a product of the given kinds, usually of the demo account. */
export function pickProduct(random: Random, kinds: readonly ProductKind[]): Product {
  const kind = random.pick(kinds)
  const isDemo = random.chance(DEMO_SHARE)
  const candidates = products.filter(
    (product) => product.kind === kind && (product.account === DEMO) === isDemo,
  )
  return random.pick(candidates)
}
