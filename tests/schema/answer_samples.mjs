// Members of good answers, to be changed.
export const modes = {
  currentModeId: 'a',
  availableModes: [{ id: 'a', name: 'A', description: 'first', _meta: {} }, { id: 'b', name: 'B' }],
  _meta: {},
};
export const configOptions = [
  {
    id: 'flat', name: 'Flat', description: 'd', category: 'model', type: 'select', currentValue: 'x', _meta: {},
    options: [{ value: 'x', name: 'X', description: 'd', _meta: {} }, { value: 'y', name: 'Y' }],
  },
  {
    id: 'groups', name: 'Groups', category: 'mode', type: 'select', currentValue: 'p',
    options: [{ group: 'g', name: 'G', options: [{ value: 'p', name: 'P' }], _meta: {} }],
  },
  { id: 'own', name: 'Own', type: 'boolean', currentValue: true },
];
