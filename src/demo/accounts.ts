/** The account of the demo key, which owns most demo orders and co-produces some. */
export const DEMO_ACCOUNT = 'acc_demo'

/** Every account that owns or co-produces a demo order. */
export const DEMO_ACCOUNTS = [
  DEMO_ACCOUNT,
  'acc_demo_editora',
  'acc_demo_estudio',
  'acc_demo_loja',
  'acc_demo_parceiro',
] as const

export type DemoAccount = (typeof DEMO_ACCOUNTS)[number]
