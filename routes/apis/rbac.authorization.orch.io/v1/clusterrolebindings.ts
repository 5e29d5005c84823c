import { clusterRoleBindings } from '../../../../schemas/resources.js'
import { strategy } from '../../../../storage/strategy.js'
import { resourceRoutes } from '../../../resource.js'

/** All that is particular to it stands in its declaration. */
export default resourceRoutes(clusterRoleBindings, strategy({}))
