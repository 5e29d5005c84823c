import type { ServiceAccount } from '../../../schemas/core/service-account.js'
import { prepareServiceAccount } from '../../../schemas/core/service-account.js'
import { serviceAccounts } from '../../../schemas/resources.js'
import { strategy } from '../../../storage/strategy.js'
import { resourceRoutes } from '../../resource.js'

export default resourceRoutes(serviceAccounts, strategy<ServiceAccount>({
  prepareForCreate: prepareServiceAccount,
  prepareForUpdate: prepareServiceAccount
}))
