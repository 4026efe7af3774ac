export const people = [
  ...['Amira', 'Ben', 'Chidi', 'Dana', 'Elif', 'Farid', 'Greta', 'Hugo', 'Ines', 'Jonas', 'Kaori', 'Lena'],
  ...['Mateo', 'Nadia', 'Omar', 'Priya', 'Quentin', 'Rosa', 'Stefan', 'Tomasz', 'Uma', 'Viktor', 'Wanda'],
  ...['Xenia', 'Yusuf', 'Zoe', 'Anneli', 'Bruno', 'Carla', 'Dmitri', 'Esther', 'Femi', 'Gita', 'Henrik'],
] as const
